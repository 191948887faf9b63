"""Files other than CSV to a `RawTable`: Excel, Parquet, Feather, Stata, SPSS, packed files; `read.read_table` takes them all."""
