"""Asking: the question, its price, its error, and what it would look like."""

TEXTS = {
    "title": ("Ask", "Preguntar"),
    "lead": (
        "Choose what to ask, or write it as SQL. What it costs and how wrong the answer will be is shown before you pay.",
        "Elija qué preguntar o escríbalo en SQL. Cuánto cuesta y cuánto errará la respuesta se muestra antes de pagar.",
    ),
    # -- the question
    "what": ("Question", "Pregunta"),
    "sql": ("The question as SQL", "La pregunta en SQL"),
    "more-parts": ("More measures and conditions", "Más medidas y condiciones"),
    "sql-hint": (
        "This is what is asked: counts, sums, means… never single rows. If you write here, the choices above follow where they can. Names are completed as you type: arrows, then Enter.",
        "Esto es lo que se pregunta: conteos, sumas, medias… nunca filas sueltas. Si escribe aquí, las opciones de arriba se actualizan cuando es posible. Los nombres se completan al escribir: flechas y luego Intro.",
    ),
    "completions": ("Names that fit", "Nombres que encajan"),
    "builder": ("Choose what to ask", "Elegir qué preguntar"),
    "build": ("Write this as SQL", "Escribir esto como SQL"),
    "read": ("Show this SQL in the choices above", "Mostrar este SQL en las opciones de arriba"),
    "no-fit": (
        "This question is written in SQL, and asks for more than can be chosen here, or cannot be read yet.",
        "Esta pregunta está escrita en SQL y pide más de lo que aquí se puede elegir, o aún no se puede leer.",
    ),
    "restart": (
        "Start again from choices instead",
        "Empezar de nuevo con las opciones",
    ),
    "not-needed": (
        "(all rows)",
        "(todas)",
    ),
    "table": ("Table", "Tabla"),
    "column": ("Column", "Columna"),
    "name": ("Name of the result", "Nombre del resultado"),
    "none": ("(none)", "(ninguna)"),
    "no-group": ("(no groups)", "(sin grupos)"),
    "in-ranges": ("{column}, in ranges", "{column}, por rangos"),
    "ranges": (
        "This number has too many values for a group each. By ranges it can be asked:",
        "Este número tiene demasiados valores para un grupo cada uno. Por rangos sí se puede preguntar:",
    ),
    "ranges-open": ("Ask it by ranges", "Preguntarlo por rangos"),
    "error-delta-not-granted": (
        "A column that is grouped by has no public list of values, and choosing groups by the data needs a delta, which this budget does not have. Group by a column with declared values, or by ranges of a number: BIN(pay, 0, 1000, 2000). This cost nothing.",
        "Una columna por la que se agrupa no tiene una lista pública de valores, y elegir los grupos según los datos necesita un delta, que este presupuesto no tiene. Agrupe por una columna con valores declarados, o por rangos de un número: BIN(pay, 0, 1000, 2000). Esto no costó nada.",
    ),
    "error-needs-delta": (
        "A column that is grouped by has no public list of values. Group by a column with declared values, or by ranges of a number: BIN(pay, 0, 1000, 2000); or give a delta under “More choices”, such as 1e-8. This cost nothing.",
        "Una columna por la que se agrupa no tiene una lista pública de valores. Agrupe por una columna con valores declarados, o por rangos de un número: BIN(pay, 0, 1000, 2000); o dé un delta en «Más opciones», como 1e-8. Esto no costó nada.",
    ),
    "error-group-by-real": (
        "{group} is a number with a fraction: each value would be a group of its own. Group by ranges: BIN({group}, lowest, …, highest). This cost nothing.",
        "{group} es un número con decimales: cada valor sería un grupo. Agrupe por rangos: BIN({group}, mínimo, …, máximo). Esto no costó nada.",
    ),
    "sql-help": ("What SQL can be written", "Qué SQL se puede escribir"),
    "sql-help-lead": (
        "One SELECT that measures, in all or for each group. With the names of your table and columns:",
        "Un solo SELECT que mide, en total o por cada grupo. Con los nombres de su tabla y sus columnas:",
    ),
    "sql-help-all": (
        "Also OR, NOT, IN, BETWEEN, IS NULL, CASE, dates (EXTRACT, DATE_TRUNC), HAVING, ORDER BY, LIMIT and JOIN. The whole list is in the documentation, under “SQL”.",
        "También OR, NOT, IN, BETWEEN, IS NULL, CASE, fechas (EXTRACT, DATE_TRUNC), HAVING, ORDER BY, LIMIT y JOIN. La lista completa está en la documentación, en «SQL».",
    ),
    "measure-first": ("What to measure", "Qué medir"),
    "measure": ("Measure also ({n})", "Medir también ({n})"),
    "function": ("Function", "Función"),
    "groups": ("For each value of", "Por cada valor de"),
    "by": ("Column {n}", "Columna {n}"),
    "filter-first": ("Only rows where", "Solo filas donde"),
    "filter": ("And also where ({n})", "Y además donde ({n})"),
    "comparison": ("Comparison", "Comparación"),
    "value": ("Value", "Valor"),
    "f-count": ("number of rows", "número de filas"),
    "f-count-distinct": ("number of distinct values", "número de valores distintos"),
    "f-sum": ("sum", "suma"),
    "f-mean": ("mean", "media"),
    "f-quantiles": ("median", "mediana"),
    "f-std": ("standard deviation", "desviación estándar"),
    "f-minimum": ("minimum", "mínimo"),
    "f-maximum": ("maximum", "máximo"),
    # -- the price
    "price": ("Price", "Precio"),
    "price-by": ("Say what you pay, or what you need", "Diga cuánto paga o qué necesita"),
    "by-epsilon": ("I pay an epsilon", "Pago un épsilon"),
    "by-error": ("I need an error of at most ±", "Necesito un error de a lo sumo ±"),
    "epsilon": ("Epsilon of the whole question", "Épsilon de toda la pregunta"),
    "epsilon-hint": (
        "Smaller tells less about each person and is less exact.",
        "Uno menor revela menos de cada persona y es menos exacto.",
    ),
    "slider": ("Move epsilon", "Mover épsilon"),
    "slider-low": (
        "{least}: more private",
        "{least}: más privado",
    ),
    "slider-high": (
        "{most}: more exact",
        "{most}: más exacto",
    ),
    "slider-all": (
        "{most}: all that remains",
        "{most}: todo lo que queda",
    ),
    "spent": (
        "The budget is spent: nothing more can be bought. Ask whoever gave it for more; what was bought can still be read for free.",
        "El presupuesto se acabó: ya no se puede comprar nada. Pida más a quien lo dio; lo comprado se sigue leyendo gratis.",
    ),
    "closed": (
        "This budget was closed: nothing can be bought from it any more. What was bought can still be read for free.",
        "Este presupuesto fue cerrado: ya no se puede comprar nada con él. Lo comprado se sigue leyendo gratis.",
    ),
    "error": ("Largest error you accept (±)", "El mayor error que acepta (±)"),
    "error-hint": (
        "The least epsilon that reaches it is found and shown below.",
        "Se busca el menor épsilon que lo alcanza y se muestra abajo.",
    ),
    "read-as": ("{text} was read as {number}.", "{text} se leyó como {number}."),
    "more": ("More choices", "Más opciones"),
    "rows": ("Rows behind each number, if you know them", "Filas detrás de cada número, si las conoce"),
    "rows-hint": (
        "Only for the expected error of means and ratios, and for the made-up rows.",
        "Solo para el error esperado de medias y razones, y para las filas inventadas.",
    ),
    "confidence": ("Confidence of intervals", "Confianza de los intervalos"),
    "delta": ("Delta", "Delta"),
    "delta-hint": (
        "Advanced: leave it empty. It is needed only to group by a column whose values nobody published; then such as 1e-8.",
        "Avanzado: déjelo vacío. Solo hace falta para agrupar por una columna cuyos valores nadie publicó; entonces, por ejemplo 1e-8.",
    ),
    "override": (
        "Allow an epsilon of 10 or more, which promises next to nothing; the release will say so",
        "Permitir un épsilon de 10 o más, que casi no promete nada; la publicación lo dirá",
    ),
    "because": ("Reason", "Motivo"),
    "because-hint": (
        "Needed above epsilon 1, else optional. Kept in the ledger, and shown with the answer.",
        "Hace falta por encima de épsilon 1; si no, es opcional. Queda en el registro y se muestra con la respuesta.",
    ),
    "pay": ("Ask and pay", "Preguntar y pagar"),
    "pay-cost": (
        "Ask and pay {cost}",
        "Preguntar y pagar {cost}",
    ),
    "owned": (
        "You already have an answer to this question, with {errors} (charge {charge}). To look at it is free; a new one costs.",
        "Ya tiene una respuesta a esta pregunta, con {errors} (cargo {charge}). Verla es gratis; una nueva cuesta.",
    ),
    "owned-part": (
        "You have already bought this number or its groups (charge {charge}). To look at them is free; a new answer costs.",
        "Ya compró este número o sus grupos (cargo {charge}). Verlos es gratis; una respuesta nueva cuesta.",
    ),
    "owned-look": ("Look at it", "Verla"),
    "pay-anyway": (
        "Ask anyway and pay {cost}",
        "Preguntar de todos modos y pagar {cost}",
    ),
    "pay-free": (
        "Show it again, for free",
        "Mostrarla de nuevo, gratis",
    ),
    "estimate": ("Only show cost and error", "Solo mostrar costo y error"),
    "working": (
        "Asking… the answer leaves at the next tick of the clock.",
        "Preguntando… la respuesta sale al próximo tic del reloj.",
    ),
    "pay-hint": (
        "What is paid cannot be taken back. The same question again at the same price is free; at another price it is paid again. Nobody else sees the answer until the curator makes a public link for it.",
        "Lo pagado no se puede deshacer. La misma pregunta otra vez al mismo precio es gratis; a otro precio se paga de nuevo. Nadie más ve la respuesta hasta que el curador cree un enlace público.",
    ),
    # -- what to expect
    "expect": ("What to expect", "Qué esperar"),
    "costs": ("It costs", "Cuesta"),
    "nothing": ("nothing", "nada"),
    "free": (
        "You bought this before: asking again, with other names, another order or another confidence, is free.",
        "Usted ya compró esto: preguntar de nuevo, con otros nombres, otro orden u otra confianza, es gratis.",
    ),
    "share": (
        "{share} of what remains",
        "{share} de lo que queda",
    ),
    "share-little": ("less than 0.01 % of what remains", "menos de 0.01 % de lo que queda"),
    "share-all": ("all that remains (100 %)", "todo lo que queda (100 %)"),
    "share-times": ("{n} times what remains", "{n} veces lo que queda"),
    "share-huge": ("more than a million times what remains", "más de un millón de veces lo que queda"),
    "much": (
        "This one answer takes {share}, for ever.",
        "Esta sola respuesta se lleva {share}, para siempre.",
    ),
    "error-rows": (
        "rows behind it",
        "filas detrás",
    ),
    "error-is": (
        "expected error",
        "error esperado",
    ),
    "error-ranks": (
        "off by, of these rows",
        "desvío, de esas filas",
    ),
    "rows-unknown": (
        "How many rows there are is not known here. Say it under “More choices”, and one error is shown.",
        "Aquí no se sabe cuántas filas hay. Dígalo en «Más opciones» y se muestra un solo error.",
    ),
    "ranks-mean": (
        "The answer is the value at another place in the order of the rows: at most so many percent of the rows away from the one asked for.",
        "La respuesta es el valor que ocupa otro lugar al ordenar las filas: a lo sumo a ese porcentaje de las filas del pedido.",
    ),
    "many-groups": (
        "{n} groups: each of their numbers has this error. Fewer groups cost no more, and have more rows behind each number.",
        "{n} grupos: cada uno de sus números tiene este error. Menos grupos no cuestan más y tienen más filas detrás de cada número.",
    ),
    "error-error-needs-rows": (
        "The error of {output} depends on how many rows are behind it, which is not public. If you know about how many, write it under “More choices”; or pay an epsilon instead.",
        "El error de {output} depende de cuántas filas hay detrás, lo que no es público. Si sabe cuántas son aproximadamente, escríbalo en «Más opciones»; o pague un épsilon en su lugar.",
    ),
    "error-of": ("Expected error of {output}", "Error esperado de {output}"),
    "risk-ratio": (
        "Whatever is concluded from the answer is at most {ratio} times as likely with a person's data as without.",
        "Lo que se concluya de la respuesta es a lo sumo {ratio} veces más probable con los datos de una persona que sin ellos.",
    ),
    "risk-huge": (
        "Whatever is concluded from the answer may be more than a million times as likely with a person's data as without: that protects nobody.",
        "Lo que se concluya de la respuesta puede ser más de un millón de veces más probable con los datos de una persona que sin ellos: eso no protege a nadie.",
    ),
    "risk-sure": (
        "Who thought it 50 % likely that someone is in the data can be all but certain after it.",
        "Quien creía con 50 % que alguien está en los datos puede estar después casi seguro.",
    ),
    "risk-belief": (
        "Who thought it 50 % likely that someone is in the data can be at most {most} % sure after it.",
        "Quien creía con 50 % que alguien está en los datos puede estar después a lo sumo {most} % seguro.",
    ),
    "all-tables": ("all tables together", "todas las tablas juntas"),
    "remains": ("Remaining now, {scope}: {amount}.", "Disponible ahora, {scope}: {amount}."),
    "fits": ("After it, {n} more answers like this one would fit.", "Después cabrían {n} respuestas más como esta."),
    "fits-one": ("After it, one more answer like this one would fit.", "Después cabría una respuesta más como esta."),
    "fits-last": ("After it, no other answer like this one would fit.", "Después no cabría otra respuesta como esta."),
    "fits-none": ("It does not fit: less remains than it costs.", "No cabe: queda menos de lo que cuesta."),
    "odds": (
        "What an attacker could learn",
        "Qué podría averiguar un atacante",
    ),
    "notes": ("What to know about this answer", "Qué saber de esta respuesta"),
    "code": ("Show me the code", "Mostrar el código"),
    "code-hint": (
        "The price is the same. The token, which the curator gives you, is in the variable CURADOR_TOKEN.",
        "El precio es el mismo. El token, que le da el curador, está en la variable CURADOR_TOKEN.",
    ),
    "code-python": ("Python", "Python"),
    "code-shell": ("Command line", "Línea de comandos"),
    "code-curl": ("curl", "curl"),
    "code-sql": ("SQL", "SQL"),
    # -- made-up rows
    "rehearsal": ("What such an answer looks like", "Cómo se ve una respuesta así"),
    "rehearsal-hint": (
        "A chart of made-up rows appears here: no row of the data is read for it.",
        "Aquí aparece un gráfico de filas inventadas: para él no se lee ninguna fila de los datos.",
    ),
    "rehearsal-rows": (
        "{n} rows made up from the declarations alone, with noise of the same size. The numbers say nothing about the data.",
        "{n} filas inventadas solo a partir de las declaraciones, con ruido del mismo tamaño. Los números no dicen nada de los datos.",
    ),
    "rehearsal-each": ("About {n} are behind each number.", "Detrás de cada número hay unas {n}."),
    "vague": (
        "With about {n} rows behind each number, this answer would say next to nothing: its interval is nearly all that the declared bounds allow. Pay more, or ask for fewer groups; and count the rows first.",
        "Con unas {n} filas detrás de cada número, esta respuesta no diría casi nada: su intervalo es casi todo lo que permiten los límites declarados. Pague más o pida menos grupos, y cuente antes las filas.",
    ),
    "made-up": (
        "These numbers come from made-up rows. They are about no one, and nothing was spent.",
        "Estos números vienen de filas inventadas. No son de nadie y no se gastó nada.",
    ),
    "rehearsal-none": (
        "There is nothing to draw: the question cannot be rehearsed on made-up rows, or has too many groups.",
        "No hay nada que dibujar: la pregunta no se puede ensayar con filas inventadas o tiene demasiados grupos.",
    ),
}
