"""The experiments of unit 01: reversing sequences, and finding a marked word."""
