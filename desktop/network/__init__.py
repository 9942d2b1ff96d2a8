"""The ledger of own results, and later the hub and everybody's results."""
