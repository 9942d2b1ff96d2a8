"""The English sentences of all errors and reasons, by what they are about; see `errors`."""
