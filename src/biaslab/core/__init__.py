"""Code that all areas share: random streams, files, statistics, tables, figures. It depends on no paper."""
