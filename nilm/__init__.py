"""From meter files to appliances: ingest, disaggregate, report. Knows no Prefect; `flows` does."""
