"""What tests share: tables, fits, files, servers, a driver of pages, oracles."""
