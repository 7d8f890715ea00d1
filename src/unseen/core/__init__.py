"""The small frozen types that everything else speaks in, and the errors."""
