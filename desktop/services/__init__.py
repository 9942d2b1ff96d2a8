"""The long-lived parts that own threads and bring the rooms together."""
