"""`--otlp`: a run as spans of OpenTelemetry, sent to a collector."""
