"""GGUF files: reading headers, finding, making and fetching builds."""
