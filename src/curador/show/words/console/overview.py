"""Budgets: what is spent, by whom, and what still fits."""

TEXTS = {
    "title": ("Overview", "Resumen"),
    "lead-all": (
        "What may still be learned about the people in the data, and who has asked.",
        "Lo que aún se puede averiguar de las personas en los datos, y quién ha preguntado.",
    ),
    "lead-own": ("Your budget, and what still fits into it.", "Su presupuesto y lo que aún cabe en él."),
    "epsilon-means": (
        "Epsilon measures how much answers tell about any one person: 0.1 is next to nothing, 1 a little, 10 nearly everything. What each answer costs adds up, and at the end of the budget no more is answered.",
        "Épsilon mide cuánto revelan las respuestas de cada persona: 0.1 es casi nada, 1 es poco, 10 es casi todo. Lo que cuesta cada respuesta se suma, y al acabarse el presupuesto ya no se responde.",
    ),
    "epsilon-lessons": ("Try it in the playground", "Pruébelo en el laboratorio"),
    "next-ask": ("Ask a question", "Hacer una pregunta"),
    "next-analysts": ("Give an analyst a budget", "Dar presupuesto a un analista"),
    "next-tables": ("Bring a table", "Traer una tabla"),
    "next-releases": ("See what was published", "Ver lo publicado"),
    "budget": ("Budget of {scope}", "Presupuesto de {scope}"),
    "all-tables": ("Budget of all tables together", "Presupuesto de todas las tablas"),
    "own-budget": ("Your budget", "Su presupuesto"),
    "closed": ("Closed: nothing can be bought from it any more.", "Cerrado: ya no se puede comprar con él."),
    "expires": ("Its last day is {day}, UTC.", "Su último día es el {day}, UTC."),
    "spent": ("Spent", "Gastado"),
    "remaining": ("Remaining", "Disponible"),
    "of": ("Budget", "Presupuesto"),
    "gauge": ("{percent} % of the budget is spent", "{percent} % del presupuesto está gastado"),
    "promise": (
        "Promised to everyone whose data may be {neighbors}, whatever is asked.",
        "Prometido a toda persona cuyos datos puedan ser {neighbors}, se pregunte lo que se pregunte.",
    ),
    "add-remove": ("added or removed", "añadidos o retirados"),
    "replace": ("replaced by others", "reemplazados por otros"),
    # -- what still fits
    "fits": ("What still fits", "Lo que aún cabe"),
    "fits-counts": (
        "{table}: about {n} more counts within ± {error}.",
        "{table}: cerca de {n} conteos más dentro de ± {error}.",
    ),
    "fits-one": ("{table}: one more count within ± {error}.", "{table}: un conteo más dentro de ± {error}."),
    "fits-none": (
        "{table}: not even one count within ± {error}. The budget must be raised first.",
        "{table}: ni un conteo dentro de ± {error}. Primero hay que aumentar el presupuesto.",
    ),
    "fits-shared": (
        "All tables share one budget: what is asked of one table is no longer there for the others.",
        "Todas las tablas comparten un presupuesto: lo que se pregunta a una tabla ya no está para las otras.",
    ),
    "fits-meaning": (
        "A count of rows within ± {error} means: the noise is smaller than {error} in 95 of 100 cases.",
        "Un conteo de filas dentro de ± {error} significa: el ruido es menor que {error} en 95 de 100 casos.",
    ),
    # -- over time, by whom
    "over-time": ("Spent over time", "Gastado en el tiempo"),
    "when": ("time, UTC", "tiempo, UTC"),
    "share": ("share of the budget", "parte del presupuesto"),
    "by-whom": ("Share of the budget that each spent", "Parte del presupuesto que gastó cada uno"),
    "holder": ("the curator", "el curador"),
    "earlier": ("earlier charges", "cargos anteriores"),
    "others": ("all others", "todos los demás"),
    # -- analysts
    "analysts": ("Budgets of analysts", "Presupuestos de analistas"),
    "analyst": ("Analyst", "Analista"),
    "questions": ("Questions", "Preguntas"),
    # -- nothing yet
    "nothing-yet": (
        "Nothing was asked yet. Explaining a question is free and shows what it would cost; asking it spends.",
        "Aún no se ha preguntado nada. Explicar una pregunta es gratis y muestra cuánto costaría; hacerla gasta.",
    ),
    "nobody-yet": (
        "No analyst has a budget yet. Give one a budget first, then a token or a link to sign in.",
        "Ningún analista tiene presupuesto aún. Primero dé uno, luego un token o un enlace para iniciar sesión.",
    ),
    "reader": (
        "You may read what was published. {n} releases are public now.",
        "Usted puede leer lo publicado. Ahora hay {n} publicaciones públicas.",
    ),
    "reader-one": (
        "You may read what was published. One release is public now.",
        "Usted puede leer lo publicado. Ahora hay una publicación pública.",
    ),
    "reader-none": (
        "You may read what was published. Nothing is public yet.",
        "Usted puede leer lo publicado. Aún no hay nada público.",
    ),
}
