"""What commands print of their own: pairs (English, Spanish) by code, in the order of the commands.

A command says ``words("nothing-spent")``.  Names of commands and options, JSON and refusals' sentences are English.
"""

TEXTS = {
    # -- losses
    "epsilon": ("epsilon", "épsilon"),
    "delta": ("delta", "delta"),
    "rho": ("rho", "rho"),
    "at-order": ("epsilon {epsilon} at order {order}", "épsilon {epsilon} en el orden {order}"),
    # -- every command
    "to-do": ("To do: {fix}", "Qué hacer: {fix}"),
    "cost": ("Cost: {cost}.", "Costo: {cost}."),
    "remaining": ("Remaining: {left}.", "Queda: {left}."),
    "and-more": ("{names} and {n} more", "{names} y {n} más"),
    "nothing-spent": ("Nothing was spent.", "No se ha gastado nada."),
    "then": ("Then: {line}", "Después: {line}"),
    "written": ("Written: {file}", "Escrito: {file}"),
    # -- demo
    "statistic": ("statistic", "estadístico"),
    "released": ("released", "publicado"),
    "interval": ("{confidence} interval", "intervalo del {confidence}"),
    "exact": ("exact*", "exacto*"),
    "bins": ("{n} bins, below", "{n} tramos, abajo"),
    "together": ("together", "todo junto"),
    "exact-means": (
        "* known only because the rows are made up; a curator never shows it.",
        "* solo se sabe porque las filas son inventadas; un curador nunca lo muestra.",
    ),
    "ranks": ("± {n} ranks", "± {n} rangos"),
    "each": ("± {n} each", "± {n} cada uno"),
    "conclude": ("What an attacker can conclude at most", "Lo máximo que puede concluir un atacante"),
    "demo-again": (
        "Answered from the ledger: charge {charge} paid for it before; nothing was spent.",
        "Respondido desde el registro: ya lo pagó el cargo {charge}; no se ha gastado nada.",
    ),
    "demo-paid": (
        "Charge {charge} paid for it all. A second run is answered from the ledger, for free.",
        "El cargo {charge} lo ha pagado todo. Una segunda vez se responde desde el registro, gratis.",
    ),
    "demo-budget": (
        "Budget: {budget}; spent {spent}; remaining {left}.",
        "Presupuesto: {budget}; gastado {spent}; queda {left}.",
    ),
    "try-next": ("Try next", "Pruebe ahora"),
    "in-a-browser": ("Or in a browser", "O en un navegador"),
    "console-on": (", from here: the console on {folder}", ", desde aquí: la consola de {folder}"),
    # -- init
    "first-line-asked": (
        "Does the first line of {file} name its columns?",
        "¿La primera línea de {file} da nombre a sus columnas?",
    ),
    "drafted": ("{file}: table {table} with {n} columns.", "{file}: tabla {table} con {n} columnas."),
    "table-added": (
        "{file}: table {table} with {n} columns added; the rest stays as it was.",
        "{file}: se ha añadido la tabla {table} con {n} columnas; el resto queda como estaba.",
    ),
    "until-filled": (
        "Until this is filled in, no command opens the study.",
        "Hasta que se rellene, ninguna orden abre el estudio.",
    ),
    "read": ("Read: {what}", "Leído: {what}"),
    "left-to-fill": ("Left to fill in", "Queda por rellenar"),
    "needed-unit": (
        "what is protected: a row, or all rows of one id",
        "qué se protege: una fila, o todas las filas de un id",
    ),
    "needed-budget": (
        "the most that all answers together may cost: epsilon; with delta also groups without public keys; or rho, for many questions",
        "lo máximo que pueden costar todas las respuestas juntas: épsilon; con delta, también grupos sin claves públicas; o rho, para muchas preguntas",
    ),
    "needed-type": ("which a CSV file does not declare", "que un archivo CSV no declara"),
    "needed-bounds": (
        "of numbers and dates; without them no sums, means or quantiles",
        "de números y fechas; sin ellas no hay sumas, medias ni cuantiles",
    ),
    "needed-keys": (
        "of categories; without them groups are selected privately",
        "de categorías; sin ellas los grupos se eligen de forma privada",
    ),
    "unusable": (
        "Left out, since no question can use their types: {names}",
        "Se dejan fuera, porque ninguna pregunta puede usar sus tipos: {names}",
    ),
    "all-public": (
        "It is all public: take it from a codebook, never from the data. Columns that nobody will ask about may be deleted.",
        "Todo ello es público: tómelo de un libro de códigos, nunca de los datos. Se pueden borrar las columnas por las que nadie va a preguntar.",
    ),
    # -- check
    "protects": ("{table}: protects {whom}", "{table}: protege {whom}"),
    "column": ("column", "columna"),
    "type": ("type", "tipo"),
    "stored-as": ("stored as", "guardada como"),
    "public": ("public", "público"),
    "note": ("note", "nota"),
    "not-declared": ("not declared", "no declarada"),
    "not-in-source": ("not in the source", "no está en la fuente"),
    "type-missing": ("type missing", "falta el tipo"),
    "no-bounds": ("no bounds", "sin límites"),
    "no-keys": ("no keys", "sin claves"),
    "type-missing-means": (
        "write one of integer, real, boolean, text, date, timestamp",
        "escriba uno de integer, real, boolean, text, date, timestamp",
    ),
    "no-bounds-means": (
        "sums, means, quantiles and arithmetic are refused, but they can be learned privately",
        "se rechazan sumas, medias, cuantiles y aritmética, pero los límites se pueden averiguar de forma privada",
    ),
    "no-keys-means": (
        "groups are selected privately, small ones do not show",
        "los grupos se eligen de forma privada, y los pequeños no aparecen",
    ),
    "no-delta": (
        "This budget has no delta, and cannot pay for that: add keys, or a delta.",
        "Este presupuesto no tiene delta y no puede pagar eso: añada claves, o un delta.",
    ),
    "stated-budget": ("budget: {budget}", "presupuesto: {budget}"),
    "can-be-asked": ("Questions can be asked.", "Ya se puede preguntar."),
    "to-be-corrected": ("To be corrected.", "Hay que corregirlo."),
    "quality-too": (
        "How many rows fit no key, are NULL or are clipped is a question too, and paid for:",
        "Cuántas filas no tienen clave, son NULL o se recortan también es una pregunta, y se paga:",
    ),
    "limits-too": (
        "The setting that cuts is contribution; `curador limits {table} --epsilon 0.1` measures what each value of it keeps.",
        "El ajuste que recorta es contribution; `curador limits {table} --epsilon 0.1` mide qué conserva cada uno de sus valores.",
    ),
    # -- prepare, reload
    "prepared-by": (
        "{table} is prepared for questions by {groups}.",
        "{table} está preparada para preguntas por {groups}.",
    ),
    "prepared": (
        "{table} is prepared for questions without groups.",
        "{table} está preparada para preguntas sin grupos.",
    ),
    "prepared-in": (
        "Kept in {place}; it holds private rows. Nothing was released and nothing was spent.",
        "Se guarda en {place}; contiene filas privadas. No se ha publicado ni gastado nada.",
    ),
    "the-database": ("the database", "la base de datos"),
    "reloaded": (
        "{table} is at version {version}, under the same budget.",
        "{table} está en la versión {version}, con el mismo presupuesto.",
    ),
    "copy-unused": (
        "The prepared copy {place} is no longer used.",
        "La copia preparada {place} ya no se usa.",
    ),
    "drop-copies": (
        "Drop copies in the schema curador of the database: they hold the old rows.",
        "Borre las copias del esquema curador de la base de datos: contienen las filas antiguas.",
    ),
    # -- explain, ask, quality, limits, publish
    "fits": (
        "It fits {times} into what remains: {left}. Nothing was spent.",
        "Cabe {times} en lo que queda: {left}. No se ha gastado nada.",
    ),
    "times-any": ("any number of times", "cualquier número de veces"),
    "times-one": ("1 time", "1 vez"),
    "times": ("{n} times", "{n} veces"),
    "of-the-time": (
        "{output}: {error}, {confidence} of the time",
        "{output}: {error}, el {confidence} de las veces",
    ),
    "in-one-charge": ("All together, for one charge: {cost}.", "Todo junto, en un solo cargo: {cost}."),
    "tightly": (
        "Accounted as a whole it is {cost}: for reports.",
        "Contado en conjunto es {cost}: para informes.",
    ),
    "written-files": ("Written: {n} files in {folder}/", "Escritos: {n} archivos en {folder}/"),
    "report-file": ("Report: {file}", "Informe: {file}"),
    "from-ledger": (
        "Answered from the ledger: it was bought before.",
        "Respondido desde el registro: ya estaba comprado.",
    ),
    # -- fit, predict
    "model-saved": ("{file}: {model}.", "{file}: {model}."),
    "bought-before": ("It was bought before: nothing was spent.", "Ya estaba comprado: no se ha gastado nada."),
    "balance": (
        "{scope}: {spent} spent of {budget}, {left} remaining",
        "{scope}: gastado {spent} de {budget}, queda {left}",
    ),
    "predicted": ("{file}: {n} rows predicted.", "{file}: {n} filas predichas."),
    # -- budget, grant, renew, revoke
    "budget": ("budget", "presupuesto"),
    "spent": ("spent", "gastado"),
    "left": ("remaining", "queda"),
    "closed": ("closed", "cerrado"),
    "until-day": ("until {day}", "hasta {day}"),
    "capped-above": (
        "Not all of it can be spent: {above}, above {scope}, has {left} left for everybody together.",
        "No se puede gastar todo: a {above}, por encima de {scope}, le queda {left} para todos juntos.",
    ),
    "for-a-period": (
        "It promises for this period alone: a person in the data of several periods loses the sum.",
        "Promete solo para este periodo: una persona que está en los datos de varios periodos pierde la suma.",
    ),
    "study-may-state": (
        "{study} may state what it did, or from now on {amount} under {section}.",
        "{study} puede decir lo que decía o, desde ahora, {amount} en {section}.",
    ),
    "new-people": (
        "{tables}: from now on about new people, under a budget of their own.",
        "{tables}: desde ahora trata de personas nuevas, con un presupuesto propio.",
    ),
    "new-people-alone": (
        "It promises for them alone: people in old and new rows lose both budgets.",
        "Promete solo para ellas: quien está en filas antiguas y nuevas pierde ambos presupuestos.",
    ),
    # -- history
    "earlier-one": (
        "{n} earlier charge is not shown; --all shows every one.",
        "No se muestra {n} cargo anterior; --all los muestra todos.",
    ),
    "earlier": (
        "{n} earlier charges are not shown; --all shows every one.",
        "No se muestran {n} cargos anteriores; --all los muestra todos.",
    ),
    "nothing-bought": ("Nothing was bought yet.", "Aún no se ha comprado nada."),
    "charge": ("charge", "cargo"),
    "when": ("when (UTC)", "cuándo (UTC)"),
    "for": ("for", "para"),
    "charged": ("cost", "costo"),
    "asked": ("asked", "preguntado"),
    "unanswered": ("unanswered", "sin respuesta"),
    "unanswered-means": (
        "Unanswered: what was paid for was never delivered; asking again is a new charge.",
        "Sin respuesta: lo pagado no llegó a entregarse; preguntar otra vez es un cargo nuevo.",
    ),
    "reason": ("because: {because}", "motivo: {because}"),
    "decided": ("decided", "decisión"),
    "of": ("of", "de"),
    "because": ("because", "motivo"),
    "all-budgets": ("all", "todos"),
    "also-for": ("{scope} for {name}", "{scope} para {name}"),
    "decided-opened": ("opened", "abierto"),
    "decided-raised": ("raised", "subido"),
    "decided-closed": ("closed", "cerrado"),
    "decided-renewed": ("renewed", "renovado"),
    "decided-redeclared": ("redeclared", "redeclarado"),
    "decided-restored": ("restored", "restaurado"),
    # -- ledger
    "the-ledger": ("The ledger", "El registro"),
    "ledger-sound": (
        "{ledger}: {n} entries, all as they were written.",
        "{ledger}: {n} asientos, todos como se escribieron.",
    ),
    "unit-is-now": ("From now on the unit of {table} is: {unit}.", "Desde ahora la unidad de {table} es: {unit}."),
    "ledger-restored": ("{ledger} is in use again.", "{ledger} vuelve a estar en uso."),
    "back-it-up": (
        "What was released since the copy was made stays paid for. Back it up now, and throw the copy away.",
        "Lo publicado desde que se hizo la copia sigue pagado. Haga ahora una copia nueva y tire la antigua.",
    ),
    "closed-for-ever": (
        "From a closed budget nothing can be bought again.",
        "Con un presupuesto cerrado no se puede volver a comprar.",
    ),
    # -- serve, token
    "new-epsilon": (
        "The most that all answers together may cost one person, as epsilon: 1 is a little, 10 nearly everything",
        "Lo máximo que todas las respuestas juntas pueden costarle a una persona, como épsilon: 1 es poco, 10 casi todo",
    ),
    "serving": ("Serving on {address}. Stop with Ctrl-C.", "Sirviendo en {address}. Se detiene con Ctrl-C."),
    "first-link": (
        "No curator has signed in yet. Open this link, which works once, within a day:",
        "Aún no ha entrado ningún curador. Abra este enlace, que sirve una sola vez, antes de un día:",
    ),
    "first-code": ("Or exchange its code for a token:", "O canjee su código por un token:"),
    "sign-in-at": ("Sign in with your name and password at:", "Inicie sesión con su nombre y contraseña en:"),
    "serve-try": ("Then, in the console:", "Luego, en la consola:"),
    "serve-try-look": (
        "Overview: what was spent, by whom, and what still fits. Tables: what is declared of the made-up rows.",
        "Resumen: lo gastado, por quién, y lo que aún cabe. Tablas: lo declarado de las filas inventadas.",
    ),
    "serve-try-analyst": (
        "Be the analyst {analyst}: Analysts, {analyst}, “Make a sign-in link”; open it in a private window, so that you stay signed in here.",
        "Sea la analista {analyst}: Analistas, {analyst}, «Crear un enlace de entrada»; ábralo en una ventana privada, para seguir aquí con su sesión.",
    ),
    "serve-try-publish": (
        "Show a dashboard to readers without a password: Releases, release 1, “Make a public link”.",
        "Muestre un tablero a lectores sin contraseña: Publicaciones, publicación 1, «Crear un enlace público».",
    ),
    "serve-try-collect": (
        "Collect, {task}: what {devices} made-up devices answered, each with noise of its own.",
        "Recolectar, {task}: lo que respondieron {devices} dispositivos inventados, cada uno con su ruido.",
    ),
    "serve-try-learn": (
        "Playground: what epsilon means, in a game to play.",
        "Laboratorio: qué significa épsilon, en un juego.",
    ),
    "keep-token": ("Keep it safe: it is shown only now.", "Guárdelo bien: solo se muestra ahora."),
    "token": ("token", "token"),
    "role": ("role", "papel"),
    "analyst": ("analyst", "analista"),
    "label": ("label", "nota"),
    "until": ("until", "hasta"),
    "role-curator": ("curator", "curador"),
    "role-analyst": ("analyst", "analista"),
    "role-auditor": ("auditor", "auditor"),
    "role-reader": ("reader", "lector"),
    "token-ended": ("ended", "terminado"),
    "token-once": ("to be exchanged", "por canjear"),
    "token-has-ended": ("{role} token {id} has ended.", "El token {id} de {role} ha terminado."),
    # -- local new-task
    "delivers": (
        "The integers in it deliver ε = {epsilon}, rounded up.",
        "Sus enteros dan ε = {epsilon}, redondeado hacia arriba.",
    ),
    "report-size": ("A report has {bits}, on its way {bytes}.", "Un informe tiene {bits}; en camino, {bytes}."),
    "bit": ("{n} bit", "{n} bit"),
    "bits": ("{n} bits", "{n} bits"),
    "byte": ("{n} byte", "{n} byte"),
    "bytes": ("{n} bytes", "{n} bytes"),
    "with-confidence": ("with {confidence} confidence", "con confianza del {confidence}"),
    "needed-within": (
        "For every estimate to be within ±{within}, {how}, {people} must report.",
        "Para que toda estimación quede dentro de ±{within}, {how}, deben informar {people}.",
    ),
    "needed-found": (
        "For every value that a share of {within} of the people have to be found in the worst case, {how}, {people} must report.",
        "Para encontrar en el peor caso todo valor que tiene una parte {within} de las personas, {how}, deben informar {people}.",
    ),
    "found-by-share": (
        "From {people} a value is found with about this chance, by the share who have it: {found}.",
        "Con {people} un valor se encuentra con más o menos esta probabilidad, según la parte que lo tiene: {found}.",
    ),
    "shorter-oftener": (
        "Texts that are shorter than the length are found more often than that.",
        "Los textos más cortos que la longitud se encuentran más a menudo.",
    ),
    "perhaps-nobody": (
        "From {people} perhaps nobody reports on some attribute: how far estimates are off is not known.",
        "Con {people} quizá nadie informe de algún atributo: no se sabe cuánto errarán las estimaciones.",
    ),
    "error-unknown": (
        "How far estimates of {mechanism} are off is not known beforehand: simulate it.",
        "No se sabe de antemano cuánto yerran las estimaciones de {mechanism}: simúlelo.",
    ),
    "within-each": (
        "From {people} every estimate is within these, together, {how}: {found}.",
        "Con {people} todas las estimaciones quedan a la vez dentro de estos errores, {how}: {found}.",
    ),
    "within-all": (
        "From {people} every estimate is within ±{error}, {how}.",
        "Con {people} toda estimación queda dentro de ±{error}, {how}.",
    ),
    "changes": (
        "Devices refuse this task by default: its epsilon does not cover that a value changed. They answer it if they are made with changes=True, in JavaScript {{ changes: true }}; with --values 1 all do.",
        "Los dispositivos rechazan esta tarea por defecto: su épsilon no cubre que un valor cambie. La responden si se crean con changes=True, en JavaScript {{ changes: true }}; con --values 1, todos.",
    ),
    # -- local simulate, collect, estimate, compare, client
    "simulated-one": (
        "{file}: {n} simulated message, by {mechanism}.",
        "{file}: {n} mensaje simulado, con {mechanism}.",
    ),
    "simulated": (
        "{file}: {n} simulated messages, by {mechanism}.",
        "{file}: {n} mensajes simulados, con {mechanism}.",
    ),
    "real-devices": (
        "Real devices randomise by themselves, and send nothing else.",
        "Los dispositivos reales aleatorizan por sí mismos y no envían nada más.",
    ),
    "now": ("now", "ahora"),
    "in-all": ("in all", "en total"),
    "accepted": ("accepted", "aceptados"),
    "refused": ("refused: {reason}", "rechazados: {reason}"),
    "reason-malformed": ("malformed", "mal formado"),
    "reason-another-task": ("another task", "otra tarea"),
    "reason-another-epsilon": ("another epsilon", "otro épsilon"),
    "reason-not-a-report": ("not a report", "no es un informe"),
    "reason-replayed": ("replayed", "repetido"),
    "collecting": ("collecting", "recogiendo"),
    "stopped": (
        "Stopped: what arrived before is in; collect the rest again.",
        "Detenido: lo que llegó antes está dentro; recoja de nuevo el resto.",
    ),
    "none-on-task": (
        "None of them is on {title}: another name, period, segment or altered task has another id.",
        "Ninguno es de {title}: con otro nombre, periodo o segmento, o si se altera, la tarea tiene otro id.",
    ),
    "none-a-message": (
        "None of them is a message on {title}. A file has a JSON message on each line; one that is compressed by gzip is named .gz, or --gzip says so.",
        "Ninguno es un mensaje de {title}. Un archivo tiene un mensaje JSON en cada línea; si está comprimido con gzip, se llama .gz o lo dice --gzip.",
    ),
    "less": ("{second} less {first}", "{second} menos {first}"),
    "nothing-found": ("Nothing was found.", "No se ha encontrado nada."),
    "more-rows": ("… and {n} more; --top shows them.", "… y {n} más; --top las muestra."),
    "client-written": (
        "{file}: copy it to the devices; it imports nothing of Curador.",
        "{file}: cópielo a los dispositivos; no importa nada de Curador.",
    ),
    # -- audit
    "the-outputs": ("the outputs", "las salidas"),
    "model-of": ("{model} of {table}", "{model} de {table}"),
    "both-ends": ("{first} and {last}", "{first} y {last}"),
    "page-written": ("{file}: a page with charts.", "{file}: una página con gráficos."),
    "canaries": (
        "Canaries: floor {floor}, ceiling {ceiling}: {witness}.",
        "Canarios: suelo {floor}, techo {ceiling}: {witness}.",
    ),
    "no-canaries": (
        "No canaries: they need features that are columns, and all rows.",
        "Sin canarios: necesitan características que sean columnas, y todas las filas.",
    ),
    "attacked": ("{door}: {done} of {of}", "{door}: {done} de {of}"),
}
