"""From a question to a plan, reading no data: schemas, expressions, questions, SQL and the builder."""
