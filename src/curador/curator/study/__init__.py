"""Study files: read, drafted, checked."""
