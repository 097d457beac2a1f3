"""Releases: what was bought, shown again, as files, and by public links."""

TEXTS = {
    "title": ("Releases", "Publicaciones"),
    "lead": (
        "Answers that were paid for. Looking at them again, also in another way, is free.",
        "Respuestas que se pagaron. Volver a mirarlas, también de otra manera, es gratis.",
    ),
    "none": (
        "Nothing was bought yet. Ask a question first: its cost is shown before you pay.",
        "Aún no se ha comprado nada. Primero haga una pregunta: su costo se muestra antes de pagar.",
    ),
    "none-public": (
        "No release is public yet. The curator makes them so.",
        "Aún no hay publicaciones abiertas. El curador las abre.",
    ),
    "one": ("Release {id}", "Publicación {id}"),
    "asked": ("Question", "Pregunta"),
    "at": ("When, UTC", "Cuándo, UTC"),
    "who": ("Bought by", "Comprada por"),
    "holder": ("the curator", "el curador"),
    "cost": ("Cost", "Costo"),
    "state": ("Public link", "Enlace público"),
    "is-public": ("open", "abierto"),
    "is-private": ("none", "ninguno"),
    # -- one
    "bought-now": (
        "Paid {cost}, and answered.",
        "Se pagó {cost} y se respondió.",
    ),
    "bought-again": ("You had bought this before: it cost nothing.", "Ya lo había comprado: no costó nada."),
    "other": ("Show it in another way", "Mostrarla de otra manera"),
    "other-hint": (
        "The same noised numbers: this costs nothing, and the files above are made in the same way.",
        "Son los mismos números con ruido: esto no cuesta nada, y los archivos de arriba se hacen de la misma manera.",
    ),
    "rename": ("Other names for columns", "Otros nombres para las columnas"),
    "name-of": ("Instead of {column}", "En lugar de {column}"),
    "sort": ("Sort by", "Ordenar por"),
    "as-asked": ("as asked", "como se preguntó"),
    "down": ("largest first", "primero el mayor"),
    "confidence": ("Confidence of intervals", "Confianza de los intervalos"),
    "show": ("Show", "Mostrar"),
    "again": ("Open its question to ask something similar", "Abrir su pregunta para preguntar algo parecido"),
    "promise": ("What is promised", "Qué se promete"),
    "notes": ("What to know about it", "Qué saber de ella"),
    "receipt": (
        "Receipt, for whoever verifies it",
        "Recibo, para quien lo verifique",
    ),
    "charge": (
        "Charge {charge} of the ledger: the entry that says what this cost, when and for whom.",
        "Cargo {charge} del registro: la entrada que dice cuánto costó, cuándo y a quién.",
    ),
    "published": ("made public by the curator", "publicada por el curador"),
    "charge-of": (
        "charge {charge}",
        "cargo {charge}",
    ),
    "made": (
        "Answered at {at} UTC · charge {charge} in the ledger",
        "Respondida el {at} UTC · cargo {charge} del registro",
    ),
    "attack": (
        "What an attacker could learn",
        "Qué podría averiguar un atacante",
    ),
    "file-hint": (
        "The report is one page with charts, guarantee and receipt; it prints well and needs no network.",
        "El informe es una página con gráficos, garantía y recibo; se puede imprimir y abrir sin internet.",
    ),
    "public-made": (
        "Answered on {at}, from: {tables}.",
        "Respondida el {at}, a partir de: {tables}.",
    ),
    "seal": (
        "The ledger's seal: with it the curator can verify that nothing was changed.",
        "El sello del registro: con él el curador puede verificar que nada cambió.",
    ),
    "files": ("Files", "Archivos"),
    "file-report": ("Report (HTML)", "Informe (HTML)"),
    "file-json": ("JSON", "JSON"),
    "file-csv": ("CSV", "CSV"),
    "file-parquet": ("Parquet", "Parquet"),
    # -- public
    "public": ("Public link", "Enlace público"),
    "public-lead": (
        "Made public by the curator of the data. Every number is off by chance, on purpose, to protect the people in the data; the intervals say by how much.",
        "Publicada por quien custodia los datos. Todos los números se desvían al azar, a propósito, para proteger a las personas en los datos; los intervalos dicen cuánto.",
    ),
    "public-hint": (
        "Whoever has a link reads this release without signing in. It costs no budget; what others have read or kept cannot be taken back.",
        "Quien tenga un enlace lee esta publicación sin iniciar sesión. No gasta presupuesto; lo que otros leyeron o guardaron no se puede retirar.",
    ),
    "label": ("For whom (only you see it)", "Para quién (solo usted lo ve)"),
    "make-link": ("Make a public link", "Crear un enlace público"),
    "link-made": ("The public link", "El enlace público"),
    "link-once": (
        "Whoever has this link reads the release without signing in. It is shown only now: copy it. Another can be made at any time.",
        "Quien tenga este enlace lee la publicación sin iniciar sesión. Solo se muestra ahora: cópielo. Siempre se puede crear otro.",
    ),
    "link-open": ("Open it", "Abrirlo"),
    "link-of": ("A link is open: {label}", "Hay un enlace abierto: {label}"),
    "end": ("End this link", "Terminar este enlace"),
}
