"""Facts of refusals in Spanish, by what they are: what a number is called, and the SQL word of a function."""

FACTS = {
    "name": {
        "epsilon": "épsilon",
        "error": "el error",
        "confidence": "la confianza",
        "weight": "el peso",
        "rows": "el número de filas",
        "groups": "el número de grupos",
        "size": "el tamaño",
        "k": "el número de valores",
        "a literal": "el número",
        "an edge": "un borde",
        "a quantile": "el cuantil",
        "a total": "un total",
        "the digits of ROUND": "el número de cifras de ROUND",
        "steps": "el número de pasos",
        "rounds": "el número de rondas",
        "bins": "el número de tramos",
    },
    "function": {
        "mean": "AVG",
        "std": "STDDEV",
        "quantiles": "QUANTILE",
        "minimum": "MIN",
        "maximum": "MAX",
        "count_distinct": "COUNT(DISTINCT)",
        "covariance": "COVAR_SAMP",
        "correlation": "CORR",
    },
}
