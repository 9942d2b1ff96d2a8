"""What this computer is: raw facts merged into one Machine."""
