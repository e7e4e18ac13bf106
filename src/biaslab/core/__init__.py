"""What every area shares: streams, atomic files, statistics, tables, figures. Knows no paper."""
