"""The texts in Spanish."""

TEXTS = {
    # -- losses
    "epsilon": "épsilon",
    "delta": "delta",
    "rho": "rho",
    # -- counted things
    "one-row": "1 fila",
    "n-rows": "{n} filas",
    "one-group": "1 grupo",
    "n-groups": "{n} grupos",
    "one-rank": "1 rango",
    "n-ranks": "{n} rangos",
    # -- whom a guarantee is for
    "unit-row": "una fila",
    "unit-id": "todo lo de un {unit!r}",
    "add-remove": "que se añade o se quita",
    "replace": "que se sustituye",
    # -- a release
    "release-genuine": "{file}: tal como se publicó, con el cargo {charge} de este libro.",
    "release-beside": "Sin sello y sin verificar: {names}.",
    "statement": "{guarantee} para {unit} {neighbors} · cargo {charge}",
    "rehearsal": "ENSAYO con filas inventadas, de nadie · sería {statement}",
    "more-rows": "… y {n} filas más",
    "within-ranks": "{outputs}: a ± {ranks} rangos como mucho, el {confidence} de las veces",
    "interval": "intervalo del {confidence}",
    "together": "{guarantee} para todo junto · cargo {charge}",
    "together-tight": "{guarantee} para todo junto ({tight}, ajustado) · cargo {charge}",
    "reason": "Épsilon {epsilon} está por encima de {limit}; motivo dado: {because}",
    "override": "EXCEPCIÓN: se permitió épsilon {epsilon}, aunque no promete casi nada.",
    "running-day": "Día {day} de {days}: los totales de todos los días son un solo evento, pagado al abrir.",
    "running-intervals": "Los intervalos son de un día; a lo largo de muchos días alguno falla.",
    # -- an explanation
    "label-table": "tabla",
    "label-protects": "protege",
    "label-keeps": "conserva",
    "label-where": "donde",
    "label-groups": "grupos",
    "label-costs": "cuesta",
    "protects": "{unit}, {neighbors}",
    "keeps": "de cada uno, como mucho {rows} en {groups}",
    "keeps-one": "de cada uno, una fila, hecha de todas las suyas",
    "limit-per-unit": "como mucho",
    "share-kept": "conserva",
    "share-within": "entre",
    "limit-advice": "Lo mínimo que conserva el 95 %: {limit}. Una unidad con más de {most} cuenta aquí con {most}.",
    "keeps-total": "de cada uno, como mucho {rows} en total",
    "keeps-after-total": "de cada uno, como mucho {rows} en total, después del filtro",
    "keeps-before": "de cada uno, como mucho {rows} en {groups}, antes del filtro",
    "keeps-after": "de cada uno, como mucho {rows} en {groups}, después del filtro",
    "whole-answer": "toda la respuesta",
    "groups-private": "{groups}: elegidos de forma privada",
    "groups-public": "{groups}: {n} públicos",
    "costs": "{guarantee}, una vez",
    "output": "columna",
    "expected-error": "error esperado ({confidence})",
    "by-rows": "depende de las filas que haya detrás:",
    "by-answers": "depende de las respuestas con las que se calcula",
    "in-set": "{output} por {groups}",
    "in-all": "{output} en total",
    "at-rows": "{n} filas",
    "exact": "exacto",
    "before-fit": "± {error} antes de hacer concordar los niveles",
    "ranks": "± {error} rangos",
    "paid-for": "se paga por",
    "share": "parte",
    "mechanism": "mecanismo",
    "noise": "ruido",
    "moved": "lo mueve una unidad",
    "free": "gratis",
    "none-needed": "no hace falta",
    "not-moved": "nada: las tablas vecinas coinciden",
    "scale": "escala {scale}",
    "sigma": "sigma {sigma}",
    "moved-norm": "{norm} {moved}",
    "step-ranks": "cuantiles {quantiles} de {measure}",
    "step-powers": "potencia de dos en {quantiles} de {measure}",
    "step-largest": "los {k} grupos mayores",
    "step-select": "qué grupos se muestran",
    "epsilon-per-row": "épsilon {epsilon} por fila",
    "epsilon-each": "épsilon {epsilon} cada uno",
    "moved-ranks": "{ranks} en {groups}",
    "moved-count": "{moved} en un recuento",
    "sure-from": "seguro desde unas {units} unidades",
    "moved-unit": "1 unidad en un grupo",
    "runs": "{engine} ejecuta:",
    "shared": "{measures}: ya se midió en el cargo {charge}; aquí se mide otra vez, con su propio ruido.",
    "bought-before": "Ya se compró en el cargo {charge}: pedirlo otra vez es gratis y da los mismos números.",
    # -- a description
    "describe-table": "{table}: protege {unit} {how}",
    "describe-public": "{table}: pública",
    "describe-kept": "cuentan como mucho {kept}",
    "describe-column": "columna",
    "describe-type": "tipo",
    "describe-values": "valores",
    "describe-keys": "{some} … ({n} claves)",
    "describe-never-null": "nunca NULL",
    # -- mechanisms by kind
    "integer-laplace": "Laplace entero",
    "gaussian": "gaussiano",
    "integer-gaussian": "gaussiano entero",
    "exponential-quantiles": "exponencial",
    "exponential-top-k": "exponencial",
    "optimal-keys": "selección óptima",
    "thresholded-laplace": "umbral sobre un recuento con ruido",
    "thresholded-gaussian": "umbral sobre un recuento con ruido",
    # -- notes
    "covers": "Un intervalo cubre el estadístico tal como se protegió: valores recortados a sus cotas y cada unidad, a sus "
    "límites. No cubre lo que se recortó o se dejó fuera.",
    "rows-left-out": "Cuentan como mucho {kept}. Lo recortado no está en ningún número ni en ningún intervalo, así que "
    "recuentos y sumas pueden quedarse cortos; por cuánto no se sabe sin pagar por ello.",
    "quality": "fits: dentro de lo declarado. missing: NULL, o no del tipo declarado. outside: ninguna de las claves, o más allá "
    "de una cota, a la que se recorta.",
    "kept-rows": "{rows} de cada {unit!r}",
    "kept-groups": "{rows} de cada {unit!r} en cada uno de {groups}",
    "per-unit": "Hay una fila por cada {unit!r} que tiene filas aquí; los que no tienen ninguna no están.",
    "clipped-per-unit": "No se deja fuera ninguna fila de un {unit!r}, pero lo que se cuenta o se suma de cada uno se recorta a "
    "lo que pueden dar {rows} filas.",
    "joined": "De cada unidad se unen como mucho {rows}, elegidas antes de la unión. Una unidad con más pierde pares de filas "
    "que coinciden, así que recuentos y sumas de filas unidas quedan cortos; cuánto no se sabe sin pagar por ello.",
    "joined-outer": "De cada unidad se unen como mucho {rows}, elegidas antes de la unión. Una unidad con más pierde pares de "
    "filas que coinciden, así que recuentos y sumas de filas unidas quedan cortos; cuánto no se sabe sin pagar por ello. "
    "Una fila conservada puede perder su pareja, y cuenta entonces como si no tuviera.",
    "rows-of": "{n} filas de {table!r}",
    "and": " y ",
    "prepared-before-filter": "Las filas de cada unidad se eligieron al preparar la tabla, antes del filtro: las que el filtro "
    "descarta gastaron los límites, y quedan menos que sin la tabla preparada.",
    "prepared-for-others": "Las filas de cada unidad se eligieron al preparar la tabla, entre más grupos de los que se piden: "
    "esos gastaron los límites, así que quedan menos filas que sin la tabla preparada.",
    "gaussian-together": "Las partes del ruido gaussiano dividen su mu al cuadrado: juntas son un solo mecanismo gaussiano.",
    "groups-selected": "Los grupos con pocas unidades se omiten; cuáles se muestran es aleatorio.",
    "spread-evenly": "El error de una desviación típica se da para valores con una desviación típica de al menos {deviation:.4g}, la de "
    "valores repartidos por igual entre sus cotas; una menor puede desviarse más. El intervalo de la respuesta vale siempre.",
    "selected-by-count": "Un recuento con ruido decide él mismo si su grupo se muestra. Su intervalo está corregido por eso: "
    "cubre dado que el grupo se muestra, y cerca del umbral baja hasta 1. El error esperado vale en grupos de al menos "
    "{units} unidades.",
    "tree-fitted": "Los recuentos llevan ruido en cada nivel del árbol, y después se hacen concordar y no ser negativos; los "
    "totales públicos se conservan. Eso no cuesta nada, y sube los recuentos pequeños: dejan de ser insesgados.",
    "sets-added": "Se miden los grupos más finos; cada total es la suma de sus partes, y tiene el ruido de todas ellas. NULL en un "
    "grupo representa todas sus claves. Las filas sin una de las claves no están en ningún total.",
    "sets-fitted": "Se miden varias de las agrupaciones, cada una con una parte del presupuesto, y luego se hacen concordar por mínimos "
    "cuadrados: cada total es exactamente la suma de sus partes, y tiene el intervalo de aquello de lo que está hecho. NULL "
    "en un grupo representa todas sus claves. Las filas sin una de las claves no están en ningún total.",
    "adjusted": "Ajustado por mínimos cuadrados, con {names}: los números sobre las mismas filas concuerdan en todos, exactamente. Solo "
    "lee lo publicado, y es gratis; los intervalos son los de los números ajustados.",
    "adjusted-together": "Se hacen concordar por mínimos cuadrados, después del ruido y gratis, con los errores indicados: {names}.",
    "apart-cut": "No ajustado a otras tablas de las mismas filas: de cada unidad se cortan otras filas para otros grupos, así que los "
    "totales difieren de verdad.",
    "apart-null": "No ajustado a otras tablas de las mismas filas: aquí se dejan fuera las filas sin una de las claves, así que los "
    "totales difieren de verdad. Las columnas con claves que se declaran nunca NULL concuerdan.",
    "apart-otherwise": "No ajustado a otras tablas de las mismas filas: sus grupos se eligen, o se hacen concordar entre sí.",
    "contained": "{measures}: la suma sobre los grupos del cargo {charge} ya está comprada; aquí se mide de nuevo, con ruido propio.",
    "computed": "Lo que se calcula con las respuestas es posproceso y gratis. Las sumas y diferencias tienen intervalos por la ley conjunta de su ruido, los cocientes por el método de Fieller; en lo demás sus partes cubren a la vez, que es más ancho. Un intervalo sin extremos dice que un denominador puede ser cero.",
    "extreme-of-noised": "El menor o el mayor de varias respuestas con ruido tiende hacia el ruido más grande: queda más lejos que el verdadero. Su intervalo lo tiene en cuenta.",
    "places-of-noised": "Los puestos son los de las respuestas con ruido; grupos más próximos que su ruido pueden estar en otro orden.",
    "total-of-shown": "Los totales sobre grupos son de los grupos que se muestran, no de todas las filas.",
    "post-processing": "HAVING, ORDER BY, LIMIT y OFFSET actúan sobre la respuesta con ruido y no cuestan nada.",
    "chosen-by-noise": "Las filas mostradas se eligieron por números con ruido. Los intervalos están corregidos por eso: la "
    "parte esperada de los mostrados que fallan es a lo sumo lo que deja la confianza. Los errores esperados son de un "
    "grupo antes de elegir.",
    "chosen-at-once": "Las filas mostradas se eligieron por números con ruido. Los intervalos están corregidos por eso: todos "
    "cubren a la vez con la confianza indicada. Los errores esperados son de un grupo antes de elegir.",
    "extremes": "El menor y el mayor valor se piden como los cuantiles del 1 % y del 99 %: más allá solo hay ruido.",
}
