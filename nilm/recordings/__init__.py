"""From a meter's recordings to one Parquet file of waveforms per week, and what the data lacks."""
