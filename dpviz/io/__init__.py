"""Files in and out: CSV tables, schema files, samples, and exports other than the JSON document. Knows no learner's insides."""
