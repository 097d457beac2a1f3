"""People and their budgets, models, and what was released."""

ES: dict[str, tuple[str, str]] = {
    # -- analysts and groups
    "name-of-table": ("{name} es el nombre de una tabla.", "Elija otro nombre."),
    "name-of-analyst": ("{name} es, o fue, el nombre de un analista.", "Dé otro nombre a la tabla."),
    "name-of-another-kind": (
        "{name} es ya un grupo o un analista, y un nombre es de una sola clase para siempre.",
        "Elija otro nombre.",
    ),
    "neighbors-apart": (
        "Las tablas protegen de maneras distintas, y un presupuesto de analista es para una.",
        "Dé a los analistas un estudio aparte.",
    ),
    "people-gone": (
        "El presupuesto de {name} sería para personas de las que ya no trata ninguna tabla.",
        "Elija un grupo con presupuesto vigente, o dé otro nombre al analista nuevo.",
    ),
    "end-stays": (
        "El presupuesto de {name} tiene otro fin en el registro.",
        "Escriba el mismo fin, o dé otro nombre al analista nuevo.",
    ),
    "already-ended": ("Este presupuesto ya habría terminado.", "Elija un día posterior."),
    "analyst-ended": ("El presupuesto de {name} terminó.", "Escriba otro fin, o dé otro nombre al analista nuevo."),
    "not-an-analyst": ("{name} no es un analista.", "Nombre un analista o un grupo."),
    "epsilon-first": ("{name} aún no tiene presupuesto, y un delta solo no lo es.", "Dé también épsilon."),
    "group-and-end-stay": (
        "{name} ya tiene un presupuesto, cuyo grupo y fin no cambian.",
        "Súbalo sin ellos, o dé otro nombre al analista nuevo.",
    ),
    "shares-all": ("{name} comparte el presupuesto de todas las tablas.", "Suba ese presupuesto."),
    "budget-counts-otherwise": (
        "El presupuesto de {name} se cuenta en otra unidad.",
        "Dé lo mismo en que se cuenta.",
    ),
    "budget-stated-otherwise": (
        "El archivo del estudio dice otro presupuesto que el registro.",
        "Escriba el que el registro tiene, o tuvo al principio; se sube aquí, y nada lo baja.",
    ),
    "budget-exists": ("Ya hay un presupuesto {scope}.", "Elija otro nombre."),
    "budget-unknown": ("No hay un presupuesto {scope}.", "Mire el nombre."),
    "delta-needs-reason": (
        "Dar un delta cambia para siempre lo que se promete, y necesita un motivo.",
        "Escriba el motivo.",
    ),
    "access-unknown": ("No se dio tal acceso.", "Elija uno de la lista."),
    # -- models
    "settings-refused": ("Con estos ajustes no se forma un modelo.", "Mire los ajustes del modelo."),
    "too-many-steps": ("Son demasiados pasos para un ajuste aquí.", "Escriba un número entero menor."),
    "recipe-too-long": ("Una receta tan larga no se guarda.", "Elija menos columnas."),
    "not-scored": ("Este modelo no es de los que aciertan o fallan.", "Evalúe un clasificador."),
    "setting-too-large": ("{name} es mayor que {most}.", "Elija uno menor."),
    "few-classes": ("{column} tiene menos de dos clases.", "El curador declara sus claves; o elija otra columna."),
    "many-classes": ("Hay {n} clases; lo más es {most}.", "Elija otra columna."),
    "features-none": ("Un modelo aprende de al menos una columna.", "Elija las columnas."),
    "features-many": ("Un modelo aprende de a lo sumo {most} columnas.", "Elija menos."),
    "features-wide": (
        "Las columnas elegidas, con sus claves, son {n} columnas; lo más es {most}.",
        "Elija columnas con menos claves.",
    ),
    "label-and-feature": ("{column} se predice y además se aprende de ella.", "Elija otra, o quítela de las demás."),
    "feature-twice": ("Una columna está dos veces.", "Elíjala una vez."),
    "feature-keys": ("{column} necesita claves distintas, a lo sumo {most}.", "Elija otra columna."),
    "feature-without-keys": (
        "{column} no tiene claves públicas de las que aprender.",
        "El curador las declara; o déjela fuera.",
    ),
    "feature-bounds": (
        "Los límites de {column} no tienen ancho, o son demasiado anchos para su paso.",
        "El curador declara otros límites o un paso; o déjela fuera.",
    ),
    "key-listed-twice": ("Una clave de {column} está dos veces.", "El curador la declara una vez."),
    "contribution-needed": (
        "La tabla no dice cuánto cuenta una misma persona.",
        "El curador lo declara con la tabla, como su contribución.",
    ),
    "model-too-large": (
        "Un modelo de tantas columnas, clases o grupos es demasiado grande.",
        "Elija menos columnas, claves, tramos, clases o grupos.",
    ),
    "guarantee-too-small": (
        "Este épsilon es demasiado pequeño para tantos números.",
        "Dé más, o elija menos columnas.",
    ),
    "sgd-needs-delta": ("DP-SGD se paga con épsilon y delta.", "Dé los dos."),
    # -- releases
    "not-recalled": (
        "El cargo {charge} se planeó de un modo que su registro no cuenta.",
        "Haga la misma pregunta de nuevo: lo comprado no cuesta nada.",
    ),
    "charge-unknown": ("No hay un cargo {charge}.", "Elija uno de la lista."),
    "task-refused": ("Con estos datos no se forma una tarea.", "Mire las respuestas posibles y épsilon."),
    # -- requests
    "malformed": ("Esto no está llenado como debe.", "Mírelo de nuevo."),
    "no-keys": ("Esa columna no declara claves.", "Elija una columna con claves."),
    "too-slow": ("La solicitud no llegó a tiempo.", "Envíela de nuevo."),
}
