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
        "Épsilon mide cuánto revelan las respuestas sobre cada persona: 0.1 es casi nada, 1 es poco, 10 es casi todo. Lo que cuesta cada respuesta se suma, y al acabarse el presupuesto ya no se responde.",
    ),
    "epsilon-lessons": ("Try it in the playground", "Pruébelo en el laboratorio"),
    "first-table": ("A new study", "Un estudio nuevo"),
    "stated": (
        "All answers together may cost one person {budget}. That is changed in the study file, below [budget], as long as there is no table; afterwards it can only be raised, for a reason that is recorded.",
        "Todas las respuestas juntas pueden costarle a una persona {budget}. Eso se cambia en el archivo del estudio, bajo [budget], mientras no haya ninguna tabla; después solo se puede aumentar, con un motivo que queda registrado.",
    ),
    "next-ask": ("Ask a question", "Hacer una pregunta"),
    "next-analysts": ("Add an analyst", "Añadir un analista"),
    "next-tables": ("Bring a table", "Traer una tabla"),
    "next-answers": ("See your answers", "Ver sus respuestas"),
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
        "However much is asked, and by whomever, all answers together tell no more than this about {unit}. The answers would be nearly as likely if those data had been {neighbors}.",
        "Por mucho que se pregunte, y quienquiera que pregunte, todas las respuestas juntas no revelan más que esto sobre {unit}. Las respuestas serían casi igual de probables si esos datos se hubieran {neighbors}.",
    ),
    "promise-own": (
        "However much you ask, your answers together tell no more than this about {unit}. The answers would be nearly as likely if those data had been {neighbors}.",
        "Por mucho que usted pregunte, sus respuestas juntas no revelan más que esto sobre {unit}. Las respuestas serían casi igual de probables si esos datos se hubieran {neighbors}.",
    ),
    "unit-row": ("any one row", "una fila cualquiera"),
    "unit-id": ("all rows of any one person", "todas las filas de una persona cualquiera"),
    "unit-both": (
        "all rows of any one person (of a table without ids, any one row)",
        "todas las filas de una persona cualquiera (de una tabla sin identificadores, una fila cualquiera)",
    ),
    "add-remove": ("left out", "omitido"),
    "replace": ("replaced", "reemplazado"),
    # -- what still fits
    "fits": ("What still fits", "Lo que aún cabe"),
    "fits-counts": (
        "{table}: about {n} more counts within ± {error}.",
        "{table}: cerca de {n} conteos más dentro de ± {error}.",
    ),
    "fits-counts-together": (
        "About {n} more counts within ± {error} in all, be they of {table}.",
        "En total, cerca de {n} conteos más dentro de ± {error}, sean de {table}.",
    ),
    "fits-one": ("{table}: one more count within ± {error}.", "{table}: un conteo más dentro de ± {error}."),
    "fits-one-together": (
        "One more count within ± {error} in all, be it of {table}.",
        "Un solo conteo más dentro de ± {error} en total, sea de {table}.",
    ),
    "fits-none": (
        "{table}: not even one count within ± {error}.",
        "{table}: ni un conteo dentro de ± {error}.",
    ),
    "fits-none-together": (
        "Not even one count within ± {error}, be it of {table}.",
        "Ni un conteo dentro de ± {error}, sea de {table}.",
    ),
    "fits-instead": (
        "One budget pays for all of them: each line holds if nothing else is asked.",
        "Un mismo presupuesto paga todo: cada línea vale si no se pregunta nada más.",
    ),
    "or": ("{most} or {last}", "{most} o {last}"),
    "fits-raise": (
        "Nothing more can be asked until the budget is raised.",
        "No se puede preguntar nada más hasta que se suba el presupuesto.",
    ),
    "fits-raise-link": ("Raise it", "Subirlo"),
    "fits-raise-ask": (
        "Ask the curator for more. What you have bought stays yours to read.",
        "Pida más al curador. Lo que usted compró lo puede seguir leyendo.",
    ),
    "fits-meaning": (
        "A count of rows within ± {error} means: the noise is smaller than {error} in 95 of 100 cases.",
        "Un conteo de filas dentro de ± {error} significa: el ruido es menor que {error} en 95 de 100 casos.",
    ),
    # -- over time, by whom
    "over-time": ("Spent over time", "Gastado en el tiempo"),
    "when": ("time, UTC", "tiempo, UTC"),
    "share": ("share of the budget", "parte del presupuesto"),
    "newest-own": ("Your newest questions", "Sus preguntas más recientes"),
    "newest": ("The newest charges", "Los cargos más recientes"),
    "by-whom": ("Share of the budget that each spent", "Parte del presupuesto que gastó cada uno"),
    "holder": ("the curator", "el curador"),
    "earlier": ("earlier charges", "cargos anteriores"),
    "others": ("all others", "todos los demás"),
    # -- analysts
    "analysts": ("Who spent what", "Quién gastó qué"),
    "own-left": ("Own budget left", "Resto de su presupuesto"),
    "no-own": ("no budget of their own", "sin presupuesto propio"),
    "total": ("All together", "Todos juntos"),
    "total-means": (
        "All of them draw on the budget of all tables, so that no more can be spent than the last line has left. An answer that was bought before costs the study nothing again.",
        "Todos gastan del presupuesto de todas las tablas, así que no se puede gastar más de lo que queda en la última línea. Una respuesta ya comprada no le cuesta otra vez al estudio.",
    ),
    "analyst": ("Analyst", "Analista"),
    "questions": ("Questions", "Preguntas"),
    # -- nothing yet
    "nothing-yet": (
        "Nothing was asked yet. To see first what a question would cost is free; only asking it spends budget.",
        "Aún no se ha preguntado nada. Ver antes cuánto costaría una pregunta es gratis; solo hacerla gasta presupuesto.",
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
