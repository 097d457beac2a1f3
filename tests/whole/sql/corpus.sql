-- Statements that plain DuckDB judges: see judge.py.  Each ends with a semicolon; where the words cannot be the same,
-- the line after it, which begins with --=, is what DuckDB is asked instead.

-- ## Written by hand: aggregates

SELECT COUNT(*) AS n, COUNT(age) AS ages, COUNT(pay) AS pays, COUNT(1) AS ones, COUNT(ok) AS oks FROM visits;
SELECT COUNT(*) AS n, SUM(level) AS s, AVG(level) AS a FROM nobody;
SELECT COUNT(*) AS n, SUM(age) AS s, AVG(level) AS a, MEDIAN(cost) AS m FROM single;
SELECT SUM(ok) AS s FROM visits;
SELECT AVG(ok) AS a, AVG(age > 60) AS b FROM visits;
--= SELECT AVG(ok::INT) AS a, AVG((age > 60)::INT) AS b FROM visits
SELECT MEAN(age) AS m FROM visits;
SELECT COUNT(DISTINCT pid) AS u, APPROX_COUNT_DISTINCT(pid) AS v FROM visits;
--= SELECT COUNT(DISTINCT pid) AS u, COUNT(DISTINCT pid) AS v FROM visits
SELECT town, COUNT(DISTINCT pid) AS u FROM visits WHERE ok GROUP BY town;
SELECT COUNT(DISTINCT town) AS t, COUNT(DISTINCT level) AS l, COUNT(DISTINCT ok) AS o FROM visits;
SELECT COUNT(DISTINCT sex) AS s FROM visits;
--= SELECT COUNT(DISTINCT CASE WHEN sex IN ('F', 'M') THEN sex END) AS s FROM visits
SELECT COUNT(DISTINCT MONTH(day)) AS m, COUNT(DISTINCT UPPER(LEFT(town, 1))) AS f FROM visits;
SELECT town, COUNT(DISTINCT code) AS c FROM visits GROUP BY town;
SELECT MIN(age) AS lo, MAX(age) AS hi FROM visits;
--= SELECT LIST(age) AS lo, LIST(age) AS hi FROM visits
SELECT sex, MIN(pay) AS lo, MAX(cost) AS hi FROM visits GROUP BY sex;
--= SELECT sex, LIST(pay) AS lo, LIST(cost) AS hi FROM visits GROUP BY sex
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p FROM visits;
--= SELECT LIST(cost) AS p FROM visits
SELECT town, PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY age) AS p FROM visits GROUP BY town;
--= SELECT town, LIST(age) AS p FROM visits GROUP BY town
SELECT QUANTILE(cost, [0.25, 0.5, 0.75]) AS q FROM visits;
--= SELECT LIST(cost) AS q_p25, LIST(cost) AS q_p50, LIST(cost) AS q_p75 FROM visits
SELECT MEDIAN(age) FILTER (WHERE ok) AS m, APPROX_QUANTILE(pay, 0.75) AS q, QUANTILE_CONT(pay, 0.4) AS c FROM visits;
--= SELECT LIST(age) FILTER (WHERE ok) AS m, LIST(pay) AS q, LIST(pay) AS c FROM visits
SELECT MEDIAN(DATEDIFF('day', DATE '2023-01-01', day)) AS m FROM visits;
SELECT VAR_POP(age) AS v, VAR_SAMP(age) AS w, VARIANCE(age) AS x, STDDEV(age) AS s, STDDEV_SAMP(age) AS t FROM visits;
SELECT sex, STDDEV_POP(pay * 2) AS s, VAR_SAMP(level) AS v FROM visits WHERE sex IN ('F', 'M') GROUP BY sex;
SELECT VARIANCE(age) FILTER (WHERE sex = 'F') AS v, STDDEV_POP(cost) FILTER (WHERE NOT ok) AS s FROM visits;
SELECT COUNT_IF(age >= 18) AS n, COUNT_IF(ok) AS o, COUNT_IF(pay IS NULL) AS p FROM visits;
SELECT COUNT(*) FILTER (WHERE ok) AS a, COUNT(age) FILTER (WHERE NOT ok) AS b, COUNT(*) FILTER (WHERE ok IS NULL) AS c FROM visits;
SELECT SUM(age) FILTER (WHERE sex = 'F') AS f, SUM(age) FILTER (WHERE sex = 'M') AS m, SUM(age) AS s FROM visits;
SELECT SUM(CASE WHEN age > 60 THEN 1 ELSE 0 END) AS n, AVG(CASE WHEN age > 60 THEN 1.0 ELSE 0 END) AS a FROM visits;
SELECT HISTOGRAM(age, 0, 18, 65, 120) AS n FROM visits;
--= SELECT CASE WHEN age < 18 THEN '[0, 18)' WHEN age < 65 THEN '[18, 65)' ELSE '[65, 120]' END AS n_bin, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY n_bin
SELECT town, TOP_K(2) AS n FROM visits WHERE level > 0 GROUP BY town;
--= SELECT town, COUNT(*) AS n FROM visits WHERE level > 0 GROUP BY town ORDER BY n DESC LIMIT 2
SELECT COUNT(COALESCE(age, 0)) AS n, COUNT(NULLIF(level, 0)) AS m, COUNT(CASE WHEN ok THEN 1 END) AS k FROM visits;

-- ## Written by hand: NULL, true and false

SELECT COUNT(*) AS n FROM visits WHERE ok;
SELECT COUNT(*) AS n FROM visits WHERE NOT ok;
SELECT COUNT(*) AS n FROM visits WHERE ok IS NOT TRUE;
SELECT COUNT(*) AS n FROM visits WHERE ok IS NOT FALSE AND ok IS NOT NULL;
SELECT COUNT(*) AS n FROM visits WHERE ok = TRUE OR ok <> TRUE;
SELECT COUNT(*) AS n FROM visits WHERE NOT (ok AND age > 60);
SELECT COUNT(*) AS n FROM visits WHERE (ok AND age > 60) IS NULL;
SELECT COUNT(*) AS n FROM visits WHERE age IS DISTINCT FROM NULL;
SELECT COUNT(*) AS n FROM visits WHERE age IS NOT DISTINCT FROM level;
SELECT COUNT(*) AS n FROM visits WHERE age IS DISTINCT FROM level;
SELECT COUNT(*) AS n FROM visits WHERE sex NOT IN ('F');
SELECT COUNT(*) AS n FROM visits WHERE age NOT IN (0, 1);
SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 65 AND 18;
SELECT COUNT(*) AS n FROM visits WHERE age NOT BETWEEN 65 AND 18;
SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN level AND 20;
SELECT COUNT(*) AS n FROM visits WHERE sex <> 'F';
SELECT COUNT(*) AS n FROM visits WHERE sex = 'X' OR sex = 'f' OR device = '';
SELECT COUNT(*) AS n FROM visits WHERE COALESCE(ok, age > 30, FALSE);
SELECT COUNT(*) AS n FROM visits WHERE CASE WHEN ok THEN age > 30 ELSE pay > 0 END;
SELECT COUNT(*) AS n FROM visits WHERE CASE sex WHEN 'F' THEN TRUE WHEN 'M' THEN ok END;
SELECT COUNT(*) AS n FROM visits WHERE NULLIF(sex, 'F') IS NULL;
SELECT COUNT(*) AS n FROM visits WHERE TRUE;
SELECT COUNT(*) AS n FROM visits WHERE FALSE;
SELECT COUNT(*) AS n FROM visits WHERE 1 = 1 AND age > 17;
SELECT COUNT(*) AS n FROM visits WHERE ok <> (age > 60);
SELECT SUM(COALESCE(age, level, 5)) AS a, SUM(COALESCE(pay, 1.5)) AS b, SUM(COALESCE(NULL, level)) AS c FROM visits;
SELECT SUM(LEAST(age, 30, level * 10)) AS a, SUM(GREATEST(pay, 0)) AS b FROM visits;
SELECT SUM(NULLIF(age, 0)) AS a, COUNT(NULLIF(age, level)) AS b, SUM(IF(ok, 1, 0)) AS c, SUM(IF(ok, age, NULL)) AS d FROM visits;
SELECT SUM(CASE WHEN ok IS NULL THEN 1 WHEN ok THEN 2 ELSE 3 END) AS s FROM visits;
SELECT SUM(CASE level WHEN 0 THEN 10 WHEN 1 THEN 20 END) AS s, COUNT(CASE level WHEN 0 THEN 10 WHEN 1 THEN 20 END) AS n FROM visits;
SELECT CASE WHEN pay IS NULL THEN 'none' WHEN pay < 0 THEN 'debt' WHEN pay = 0 THEN 'zero' ELSE 'paid' END AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT ok IS NULL AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g;
SELECT sex = 'F' AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT COALESCE(ok, FALSE) AS g, COUNT(*) AS n FROM visits GROUP BY g;

-- ## Written by hand: numbers

SELECT SUM(age + 1) AS a, SUM(age - level) AS b, SUM(-age) AS c, SUM(age * level) AS d, SUM(ABS(pay)) AS e FROM visits;
SELECT SUM(age // 10) AS a, SUM(age % 10) AS b, SUM(-age // 7) AS c, SUM(-age % 7) AS d, SUM(age // -7) AS e FROM visits;
SELECT SUM(age // level) AS a, COUNT(age // level) AS b, SUM(age % level) AS c, COUNT(age / level) AS d FROM visits;
SELECT SUM(pay // 2) AS a, SUM(pay % 2) AS b, SUM(pay // 0.5) AS c, SUM(pay % 0.75) AS d FROM visits;
SELECT SUM(age / 7) AS a, SUM(pay / 4) AS b, AVG(age / 60.0) AS c, COUNT(pay / 0) AS d FROM visits;
SELECT SUM(ROUND(pay)) AS r, SUM(FLOOR(pay)) AS f, SUM(CEIL(pay)) AS c, SUM(TRUNC(pay)) AS t FROM visits;
SELECT SUM(ROUND(pay, 1)) AS r, SUM(FLOOR(pay, 1)) AS f, SUM(CEIL(pay, 1)) AS c, SUM(TRUNC(pay, 1)) AS t FROM visits;
SELECT SUM(ROUND(cost, -1)) AS r, SUM(ROUND(age, -1)) AS a, SUM(ROUND(age, 1)) AS b, SUM(ROUND(-age, -1)) AS c FROM visits;
SELECT SUM(SIGN(pay)) AS a, SUM(SIGN(age)) AS b, SUM(MOD(age, 7)) AS c, SUM(MOD(-level, 2)) AS d FROM visits;
SELECT SUM(POWER(pay, 2)) AS a, SUM(level ** 3) AS b, SUM(POW(level, 2)) AS c FROM visits;
SELECT SUM(SQRT(age)) AS a, SUM(SQRT(pay)) AS b, COUNT(SQRT(pay)) AS c, SUM(SQRT(level * level)) AS d FROM visits;
SELECT SUM(LN(level + 1)) AS a, SUM(LOG2(level)) AS b, COUNT(LOG10(level)) AS c, SUM(EXP(level)) AS d, SUM(LOG(age + 1)) AS e FROM visits;
SELECT SUM(WIDTH_BUCKET(age, 20, 80, 3)) AS a, SUM(WIDTH_BUCKET(pay, -10, 10, 8)) AS b FROM visits;
SELECT SUM(CAST(pay AS BIGINT)) AS a, SUM(CAST(age AS DOUBLE)) AS b, SUM(CAST(ok AS INT)) AS c, SUM(ok::INT) AS d FROM visits;
SELECT SUM(pay::DOUBLE / 2) AS a, SUM(TRY_CAST(age AS DOUBLE)) AS b, COUNT(TRY_CAST(pay AS BIGINT)) AS c FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE CAST(level AS BOOLEAN);
SELECT COUNT(*) AS n FROM visits WHERE age > 17 AND age < 66 AND pay >= -2.5 AND cost <> 0.5;
SELECT COUNT(*) AS n FROM visits WHERE pay = 0.25 OR pay IN (1.5, -12.25) OR cost = 99.5;
SELECT COUNT(*) AS n FROM visits WHERE cost = 0.1;
--= SELECT COUNT(*) AS n FROM visits WHERE cost = floor(0.1 * 128) * 0.0078125
SELECT COUNT(*) AS n FROM visits WHERE cost >= 99.99;
--= SELECT COUNT(*) AS n FROM visits WHERE cost >= floor(99.99 * 128) * 0.0078125
SELECT COUNT(*) AS n FROM visits WHERE age * 2 + 1 > level * 30 - 5;
SELECT COUNT(*) AS n FROM visits WHERE (age - 30) * (age - 60) < 0;
SELECT COUNT(*) AS n FROM visits WHERE age - 30 - 10 > 2 - 1 - 1;
SELECT COUNT(*) AS n FROM visits WHERE age // 2 // 2 * 2 % 3 = 1;
SELECT COUNT(*) AS n FROM visits WHERE - age + 30 > - - 5;
SELECT COUNT(*) AS n FROM visits WHERE age + level * 2 = age + level + level;
SELECT SUM(2 + 3 * age - 4 // 2) AS s, SUM((2 + 3) * (age - 4) // 2) AS t, SUM(10 - age % 7 * 2) AS u FROM visits;
SELECT SUM(1e2 * level) AS a, SUM(level * 2.5) AS b, SUM(0.5 * pay - 0.25) AS c FROM visits;
SELECT age // 10 AS decade, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY decade;
SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade;
SELECT FLOOR(cost / 100) AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT ROUND(pay / 25) AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT ROUND(cost, -2) AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT level, SIGN(pay) AS sign, COUNT(*) AS n FROM visits GROUP BY level, sign;
SELECT CASE WHEN age < 18 THEN 0 WHEN age < 65 THEN 1 ELSE 2 END AS g, COUNT(*) AS n FROM visits GROUP BY 1;
SELECT BIN(pay, -50, 0, 50) AS b, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY b;

-- ## Written by hand: dates and timestamps

SELECT YEAR(day) AS y, QUARTER(day) AS q, COUNT(*) AS n FROM visits GROUP BY y, q;
SELECT SUM(YEAR(day)) AS a, SUM(QUARTER(day)) AS b, SUM(MONTH(day)) AS c, SUM(DAY(day)) AS d, SUM(DAYOFYEAR(day)) AS e FROM visits;
SELECT SUM(ISODOW(day)) AS a, SUM(DAYOFWEEK(day)) AS b, SUM(WEEK(day)) AS c, SUM(ISOYEAR(day)) AS d FROM visits;
SELECT SUM(EXTRACT(YEAR FROM day)) AS a, SUM(EXTRACT(DOW FROM day)) AS b, SUM(EXTRACT(DOY FROM day)) AS c, SUM(DATE_PART('isodow', day)) AS d FROM visits;
SELECT SUM(DATEDIFF('day', day, DATE '2024-02-29')) AS a, SUM(DATEDIFF('month', day, DATE '2024-02-29')) AS b, SUM(DATEDIFF('year', day, DATE '2024-02-29')) AS c FROM visits;
SELECT SUM(DATEDIFF('week', day, DATE '2024-02-29')) AS a, SUM(DATEDIFF('week', DATE '2024-01-07', day)) AS b, SUM(DATE_DIFF('quarter', DATE '2024-03-31', day)) AS c FROM visits;
SELECT SUM(day - DATE '2023-01-01') AS a, SUM(DATE '2024-12-31' - day) AS b FROM visits;
SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY m;
SELECT DATE_TRUNC('week', day) AS w, COUNT(*) AS n FROM visits GROUP BY w;
SELECT DATE_TRUNC('year', day) AS y, DATE_TRUNC('quarter', day) AS q, COUNT(*) AS n FROM visits GROUP BY y, q;
SELECT LAST_DAY(day) AS l, COUNT(*) AS n FROM visits GROUP BY l;
SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY m;
SELECT STRFTIME(day, '%d/%m/%Y') AS m, COUNT(*) AS n FROM visits WHERE YEAR(day) = 2024 GROUP BY m;
SELECT DAYNAME(day) AS d, MONTHNAME(day) AS m, COUNT(*) AS n FROM visits GROUP BY d, m;
SELECT COUNT(*) AS n FROM visits WHERE day >= '2024-01-01';
SELECT COUNT(*) AS n FROM visits WHERE day BETWEEN '2023-02-28' AND '2024-02-29';
SELECT COUNT(*) AS n FROM visits WHERE day IN ('2024-02-29', DATE '2023-01-01');
SELECT COUNT(*) AS n FROM visits WHERE day < DATE '2024-01-31' + INTERVAL 1 MONTH;
SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL 1 MONTH > DATE '2024-03-31';
SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL 1 MONTH = LAST_DAY(day + INTERVAL 1 MONTH);
SELECT COUNT(*) AS n FROM visits WHERE day - INTERVAL 1 YEAR <= DATE '2023-02-28';
SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL 2 WEEK > LAST_DAY(day) AND day - INTERVAL 3 DAY < '2024-07-02';
SELECT COUNT(*) AS n FROM visits WHERE day + 30 > DATE '2024-03-30' AND 1 + day > '2023-01-31';
SELECT COUNT(*) AS n FROM visits WHERE MAKE_DATE(2024, 2, level * 6) > '2024-02-01';
SELECT COUNT(MAKE_DATE(YEAR(day), MONTH(day), 31)) AS n, COUNT(MAKE_DATE(2023, 2, 29)) AS m FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE DATE_TRUNC('month', day) = DATE '2024-02-01' OR DATE_TRUNC('week', day) = '2024-12-30';
SELECT SUM(HOUR(seen)) AS h, SUM(MINUTE(seen)) AS m, SUM(SECOND(seen)) AS s FROM visits;
SELECT HOUR(seen) AS h, COUNT(*) AS n FROM visits GROUP BY h;
SELECT CAST(seen AS DATE) AS d, COUNT(*) AS n FROM visits GROUP BY d;
SELECT STRFTIME(seen, '%Y-%m-%d %H:00') AS h, COUNT(*) AS n FROM visits GROUP BY h;
SELECT COUNT(*) AS n FROM visits WHERE seen >= '2024-02-29 12:00' AND seen < TIMESTAMP '2024-03-01 00:00:00';
SELECT COUNT(*) AS n FROM visits WHERE seen = TIMESTAMP '2024-02-29 12:00:00';
SELECT COUNT(*) AS n FROM visits WHERE seen > DATE '2024-02-29';
SELECT COUNT(*) AS n FROM visits WHERE seen + INTERVAL 12 HOUR >= '2024-03-01' AND seen - INTERVAL 30 MINUTE < '2024-03-02 12:00:00';
SELECT COUNT(*) AS n FROM visits WHERE seen + INTERVAL 1 DAY > '2024-03-01 06:30:00';
SELECT SUM(DATEDIFF('hour', TIMESTAMP '2024-02-28 23:59:59', seen)) AS a, SUM(DATEDIFF('minute', seen, TIMESTAMP '2024-03-01 00:00:01')) AS b FROM visits;
SELECT SUM(DATEDIFF('day', seen, TIMESTAMP '2024-03-01 00:00:00')) AS a, SUM(DATEDIFF('second', TIMESTAMP '2024-02-29 00:00:00', seen)) AS b FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE DATE_TRUNC('hour', seen) = '2024-02-29 12:00' OR DATE_TRUNC('day', seen) = '2024-03-01';
SELECT MONTH(seen) AS m, ISODOW(seen) AS d, COUNT(*) AS n FROM visits GROUP BY m, d;
SELECT COUNT(*) AS n FROM visits WHERE CAST(day AS TIMESTAMP) < '2024-02-29 00:00:01' AND EXTRACT(HOUR FROM seen) > 6;

-- ## Written by hand: texts

SELECT UPPER(town) AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT LOWER(town) || '!' AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT LEFT(town, 2) AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT RIGHT(town, 2) AS a, LENGTH(town) AS b, COUNT(*) AS n FROM visits GROUP BY a, b;
SELECT SUBSTRING(town, 2, 3) AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT SUBSTRING(town, -2) AS a, SUBSTRING(town, 3) AS b, COUNT(*) AS n FROM visits GROUP BY a, b;
SELECT SUBSTRING(town, 0, 2) AS a, SUBSTRING(town, -3, 2) AS b, COUNT(*) AS n FROM visits GROUP BY a, b;
SELECT SUBSTR(town, 2, 1) AS a, LEFT(town, -2) AS b, RIGHT(town, -2) AS c, COUNT(*) AS n FROM visits GROUP BY a, b, c;
SELECT TRIM(code) AS a, LTRIM(code) AS b, RTRIM(code) AS c, COUNT(*) AS n FROM visits GROUP BY a, b, c;
SELECT REPLACE(code, 'a', 'b') AS a, REVERSE(town) AS b, COUNT(*) AS n FROM visits GROUP BY a, b;
SELECT STRPOS(town, 'o') AS p, SUM(LENGTH(code)) AS s, COUNT(*) AS n FROM visits GROUP BY p;
SELECT CONCAT(town, '-', code) AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT CONCAT(sex, town) AS t, COUNT(*) AS n FROM visits WHERE sex IN ('F', 'M') GROUP BY t;
SELECT TRIM(TRAILING 'o' FROM town) AS t, COUNT(*) AS n FROM visits GROUP BY t;
--= SELECT RTRIM(town, 'o') AS t, COUNT(*) AS n FROM visits GROUP BY t
SELECT TRIM('Lo' FROM town) AS t, COUNT(*) AS n FROM visits GROUP BY t;
--= SELECT TRIM(town, 'Lo') AS t, COUNT(*) AS n FROM visits GROUP BY t
SELECT UPPER(sex) AS s, COUNT(*) AS n FROM visits GROUP BY s;
--= SELECT UPPER(CASE WHEN sex IN ('F', 'M') THEN sex END) AS s, COUNT(*) AS n FROM visits GROUP BY s
SELECT COUNT(*) AS n FROM visits WHERE town LIKE 'L%';
SELECT COUNT(*) AS n FROM visits WHERE town LIKE '%o' OR town LIKE '%r%';
SELECT COUNT(*) AS n FROM visits WHERE town LIKE '_ugo' OR town NOT LIKE '%o%';
SELECT COUNT(*) AS n FROM visits WHERE town ILIKE 'l%' AND town NOT ILIKE '%CA';
SELECT COUNT(*) AS n FROM visits WHERE code LIKE '%$%%' ESCAPE '$';
SELECT COUNT(*) AS n FROM visits WHERE code LIKE 'a$_b' ESCAPE '$' OR code LIKE '' OR code = '';
SELECT COUNT(*) AS n FROM visits WHERE code ILIKE 'ñ_';
SELECT COUNT(*) AS n FROM visits WHERE device LIKE 'p%';
SELECT COUNT(*) AS n FROM visits WHERE device LIKE '%s' OR device LIKE '%''%';
SELECT COUNT(*) AS n FROM visits WHERE device LIKE 'p$%' ESCAPE '$';
SELECT COUNT(*) AS n FROM visits WHERE device NOT LIKE '%o%';
SELECT COUNT(*) AS n FROM visits WHERE device = 'it''s' OR device LIKE '';
SELECT COUNT(*) AS n FROM visits WHERE STARTS_WITH(device, 'p') OR ENDS_WITH(device, 'v') OR CONTAINS(device, '''');
SELECT COUNT(*) AS n FROM visits WHERE PREFIX(town, 'A ') OR SUFFIX(town, 'go');
SELECT COUNT(*) AS n FROM visits WHERE town > 'Lorca' AND town <= 'Vigo';
SELECT COUNT(*) AS n FROM visits WHERE 'Lugo' > town OR code < '1';
SELECT COUNT(*) AS n FROM visits WHERE town BETWEEN 'L' AND 'M';
SELECT SUM(CAST(code AS BIGINT)) AS s, COUNT(CAST(code AS BIGINT)) AS n FROM visits WHERE code IN ('12', '-3');
SELECT SUM(TRY_CAST(code AS INT)) AS s, COUNT(TRY_CAST(code AS DOUBLE)) AS n FROM visits;
SELECT CAST(level AS VARCHAR) AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT CAST(ok AS VARCHAR) AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT CAST(YEAR(day) AS VARCHAR) || '-' || CAST(QUARTER(day) AS VARCHAR) AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT COALESCE(sex, 'none') AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT CASE WHEN sex = 'F' THEN 'woman' WHEN sex = 'M' THEN 'man' ELSE 'other' END AS g, COUNT(*) AS n FROM visits GROUP BY g;
SELECT CASE town WHEN 'Lugo' THEN 'north' WHEN 'Vigo' THEN 'north' ELSE 'south' END AS g, AVG(age) AS a FROM visits GROUP BY g;
SELECT COUNT(*) AS n FROM visits WHERE town IN ('Lugo', 'Vigo') AND code NOT IN ('x', '') AND device IS NOT NULL;
SELECT COUNT(*) AS n FROM visits WHERE town || code = 'Lugo12' OR LENGTH(town || code) > 8;

-- ## Written by hand: joins

SELECT coast, COUNT(*) AS n FROM visits JOIN places USING (town) GROUP BY coast;
SELECT coast, COUNT(*) AS n, SUM(size) AS s FROM visits v JOIN places p ON v.town = p.town WHERE size > 0 GROUP BY coast;
SELECT p.coast AS c, v.sex AS s, COUNT(*) AS n FROM visits AS v LEFT JOIN places AS p ON p.town = v.town GROUP BY p.coast, v.sex;
SELECT coast, AVG(age) AS a FROM visits NATURAL JOIN places GROUP BY coast;
SELECT coast, COUNT(*) AS n FROM visits, places WHERE visits.town = places.town AND age > 17 GROUP BY coast;
SELECT places.town AS t, COUNT(*) AS n FROM visits JOIN places ON visits.town = places.town GROUP BY places.town;
SELECT SUM(size - age) AS s, COUNT(size) AS n FROM visits LEFT JOIN places ON visits.town = places.town AND visits.code = places.town;
SELECT coast, COUNT(*) AS n, SUM(nights) AS s FROM stays JOIN places ON place = town GROUP BY coast;
SELECT coast, COUNT(*) AS n, SUM(nights) AS s FROM stays LEFT JOIN places ON place = town GROUP BY coast;
SELECT COUNT(*) AS n, SUM(size) AS s FROM stays LEFT JOIN places ON place = town WHERE coast IS NULL;
SELECT sex, COUNT(*) AS n, AVG(nights) AS a FROM visits v JOIN stays s ON v.pid = s.person GROUP BY sex;
SELECT sex, COUNT(*) AS n, COUNT(nights) AS k FROM visits v LEFT JOIN stays s ON v.pid = s.person GROUP BY sex;
SELECT place, COUNT(*) AS n, COUNT(v.age) AS k FROM visits v RIGHT JOIN stays s ON v.pid = s.person GROUP BY place;
SELECT COUNT(*) AS n, SUM(nights * level) AS s FROM stays JOIN visits ON person = pid WHERE since <= day;
SELECT COUNT(*) AS n FROM visits JOIN stays ON pid = person AND town = place;
SELECT COUNT(*) AS n, COUNT(nights) AS k FROM visits LEFT JOIN stays ON pid = person AND day = since;
SELECT COUNT(*) AS n FROM visits LEFT JOIN stays ON pid = person WHERE person IS NULL;
SELECT coast, place, COUNT(*) AS n FROM visits JOIN stays ON pid = person JOIN places ON visits.town = places.town GROUP BY coast, place;
SELECT coast, COUNT(*) AS n FROM visits JOIN places USING (town) JOIN stays ON visits.pid = stays.person WHERE nights > 2 GROUP BY coast;
SELECT SUM(CASE WHEN place = visits.town THEN nights ELSE 0 END) AS s FROM visits LEFT JOIN stays ON stays.person = visits.pid;
SELECT DATEDIFF('year', since, day) AS g, COUNT(*) AS n FROM visits JOIN stays ON pid = person GROUP BY g;
SELECT COUNT(DISTINCT pid) AS u, COUNT(*) AS n FROM visits JOIN stays ON pid = person;
SELECT "V".sex AS s, COUNT(*) AS n FROM visits AS "V" JOIN stays ON "V".pid = person GROUP BY "V".sex;

-- ## Written by hand: tables together, and lists of units

SELECT COUNT(*) AS n, SUM(k) AS s FROM (SELECT pid, age AS k FROM visits UNION ALL SELECT person, nights FROM stays) t;
SELECT t, COUNT(*) AS n FROM (SELECT pid, town AS t FROM visits UNION ALL SELECT person, place FROM stays) u GROUP BY t;
SELECT w, COUNT(*) AS n, AVG(k) AS a FROM (SELECT pid, 'visit' AS w, level AS k FROM visits UNION ALL SELECT person, 'stay', nights FROM stays) u GROUP BY w;
SELECT SUM(k) AS s, COUNT(k) AS n FROM (SELECT pid, pay AS k FROM visits WHERE ok UNION ALL SELECT pid, -pay FROM visits WHERE NOT ok) u;
SELECT SUM(k) AS s, COUNT(k) AS n FROM (SELECT pid, pay AS k FROM visits UNION ALL SELECT person, nights * 0.5 FROM stays) u WHERE k > 1;
SELECT COUNT(*) AS n FROM (SELECT pid, day AS d FROM visits UNION ALL SELECT person, since FROM stays) u WHERE d < '2024-01-01';
SELECT SUM(n) AS s, COUNT(*) AS u FROM (SELECT pid, SUM(one) AS n FROM (SELECT pid, 1 AS one FROM visits UNION ALL SELECT person, 0 FROM stays) a GROUP BY pid) t;
SELECT COUNT(*) AS n FROM (SELECT pid, MAX(k) AS m FROM (SELECT pid, level AS k FROM visits UNION ALL SELECT person, nights FROM stays UNION ALL SELECT pid, age FROM visits WHERE ok) a GROUP BY pid) t WHERE m > 60;
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT person FROM stays);
SELECT COUNT(*) AS n FROM visits WHERE pid NOT IN (SELECT person FROM stays);
SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM visits WHERE pid IN (SELECT person FROM stays WHERE nights > 2) GROUP BY sex;
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) > 6);
SELECT COUNT(*) AS n FROM visits WHERE pid NOT IN (SELECT pid FROM visits WHERE ok) OR ok;
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits WHERE sex = 'F') AND pid IN (SELECT pid FROM visits WHERE sex = 'M');
SELECT pid IN (SELECT person FROM stays) AS stayed, COUNT(*) AS n FROM visits GROUP BY stayed;
SELECT SUM(CASE WHEN pid IN (SELECT person FROM stays WHERE place = 'Lugo') THEN age ELSE 0 END) AS s FROM visits;
SELECT COUNT(*) FILTER (WHERE pid IN (SELECT person FROM stays)) AS n, COUNT(*) AS m FROM visits;
SELECT COUNT(*) AS n FROM stays WHERE person IN (SELECT pid FROM visits WHERE pid NOT IN (SELECT person FROM stays WHERE nights > 5));
SELECT COUNT(*) AS n FROM stays WHERE person IN (SELECT pid FROM (SELECT pid, SUM(pay) AS p FROM visits GROUP BY pid) t WHERE p > 0);
WITH guests AS (SELECT person FROM stays WHERE nights > 0) SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT person FROM guests);
SELECT COUNT(*) AS n FROM visits WHERE NOT (pid IN (SELECT person FROM stays) AND ok);
SELECT COUNT(*) AS n FROM single WHERE pid IN (SELECT pid FROM visits);
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM nobody);
SELECT COUNT(*) AS n FROM visits WHERE pid NOT IN (SELECT pid FROM nobody);

-- ## Written by hand: one row per unit

SELECT COUNT(*) AS n, SUM(c) AS s FROM (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(s) AS s, SUM(lo) AS lo, SUM(hi) AS hi FROM (SELECT pid, SUM(pay) AS s, MIN(pay) AS lo, MAX(pay) AS hi FROM visits GROUP BY pid) t;
SELECT AVG(total) AS a, MEDIAN(c) AS m FROM (SELECT pid, SUM(cost) AS total, COUNT(*) AS c FROM visits WHERE ok GROUP BY pid HAVING COUNT(*) > 2) t WHERE total > 5;
SELECT c >= 7 AS often, COUNT(*) AS n, AVG(m) AS a FROM (SELECT pid, COUNT(*) AS c, AVG(cost) AS m FROM visits GROUP BY pid) t GROUP BY often;
SELECT COUNT(*) AS n FROM (SELECT pid FROM visits GROUP BY pid) t;
SELECT COUNT(*) AS n FROM (SELECT pid FROM visits GROUP BY pid HAVING MIN(age) < 18 AND MAX(age) >= 65) t;
SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid HAVING c > 5) t;
SELECT COUNT(*) AS n FROM (SELECT pid AS who, COUNT(DISTINCT town) AS c FROM visits GROUP BY who) t WHERE c = 4;
SELECT c, COUNT(*) AS n FROM (SELECT pid, LEAST(COUNT(DISTINCT town), 4) AS c FROM visits GROUP BY 1) t GROUP BY c;
SELECT SUM(d) AS s FROM (SELECT pid, COUNT(DISTINCT device) + COUNT(DISTINCT day) AS d FROM visits GROUP BY pid) t;
SELECT COUNT(*) AS n, COUNT(s) AS k, SUM(s) AS s FROM (SELECT pid, SUM(CASE WHEN sex = 'X' THEN age END) AS s FROM visits GROUP BY pid) t;
SELECT SUM(g) AS s, COUNT(*) AS n FROM (SELECT pid, MAX(pay) - MIN(pay) AS g FROM visits GROUP BY pid) t WHERE g > 10;
SELECT SUM(f) AS f, SUM(m) AS m, SUM(i) AS i FROM (SELECT pid, COUNT(*) FILTER (WHERE sex = 'F') AS f, SUM(age) FILTER (WHERE sex = 'M') AS m, COUNT_IF(ok) AS i FROM visits GROUP BY pid) t;
SELECT SUM(m) AS s FROM (SELECT pid, MAX(MONTH(day)) AS m FROM visits GROUP BY pid) t;
SELECT COUNT(*) AS n FROM (SELECT pid, MIN(day) AS a, MAX(day) AS b FROM visits GROUP BY pid) t WHERE DATEDIFF('month', a, b) >= 20;
SELECT YEAR(a) AS y, COUNT(*) AS n FROM (SELECT pid, MAX(day) AS a FROM visits GROUP BY pid) t GROUP BY y;
SELECT SUM(most) AS s FROM (SELECT pid, MAX(n) AS most FROM (SELECT pid, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY pid, m) a GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(towns) AS s FROM (SELECT pid, COUNT(*) AS towns FROM (SELECT pid, town, SUM(pay) AS p FROM visits GROUP BY pid, town HAVING SUM(pay) > 0) a GROUP BY pid) t;
SELECT town, COUNT(*) AS n, SUM(c) AS s FROM (SELECT pid, town, COUNT(*) AS c FROM visits GROUP BY pid, town) t GROUP BY town;
SELECT ok, c > 1 AS more, COUNT(*) AS n FROM (SELECT pid, ok, COUNT(*) AS c FROM visits GROUP BY pid, ok) t GROUP BY ok, more;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(total) AS s FROM (SELECT pid, SUM(age) AS total FROM visits GROUP BY pid) t JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT COUNT(*) AS n, SUM(c) AS s FROM (SELECT pid, COUNT(nights) AS c FROM visits LEFT JOIN stays ON pid = person GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(z) AS s FROM (SELECT pid, MAX(size) AS z FROM visits JOIN places USING (town) GROUP BY pid) t;
WITH per AS (SELECT pid, SUM(pay) AS p FROM visits GROUP BY pid) SELECT p > 0 AS g, COUNT(*) AS n FROM per GROUP BY g;
WITH per AS (SELECT pid, SUM(level) AS p FROM visits WHERE pid IN (SELECT person FROM stays) GROUP BY pid), big AS (SELECT * FROM per WHERE p > 5) SELECT COUNT(*) AS n, SUM(p) AS s FROM big;
SELECT COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, SUM(age) AS p FROM nobody GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, SUM(level) AS p FROM single GROUP BY pid) t;
SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS c, SUM(ok::INT) AS k FROM visits GROUP BY pid) t WHERE k * 2 > c;
SELECT SUM(x) AS s FROM (SELECT pid, COALESCE(SUM(pay), 0) + COUNT(*) * 2 - 1 AS x FROM visits GROUP BY pid) t;
SELECT AVG(c) AS a, VAR_POP(c) AS v, STDDEV(c) AS d FROM (SELECT pid, LEAST(COUNT(*), 20) AS c FROM visits GROUP BY pid) t;
SELECT town, ok, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ALL;
SELECT YEAR(day) AS y, sex, COUNT(*)::INT AS n, CAST(SUM(age) AS BIGINT) * 2 AS p FROM visits WHERE sex IN ('F', 'M') AND day IS NOT NULL GROUP BY ALL ORDER BY y, sex;
SELECT COUNT(*) AS n FROM visits GROUP BY ALL;

-- ## Written by hand: one row per unit, beside other rows

SELECT COUNT(*) AS n, COUNT(p) AS c, SUM(COALESCE(p, 0)) AS s FROM stays LEFT JOIN (SELECT pid, SUM(age) AS p FROM visits WHERE ok GROUP BY pid) t ON t.pid = stays.person;
SELECT place, COUNT(*) AS n, AVG(c) AS a FROM stays s JOIN (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid HAVING COUNT(*) > 3) t ON s.person = t.pid WHERE nights > 1 GROUP BY place;
SELECT t.pid IS NULL AS nobody, COUNT(*) AS n FROM stays LEFT JOIN (SELECT pid FROM visits WHERE level > 7 GROUP BY pid) t ON person = pid GROUP BY nobody;
SELECT town, COUNT(*) AS n, SUM(c) AS s FROM visits v JOIN (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid) t USING (pid) WHERE c > 4 GROUP BY town;
SELECT COUNT(*) AS n, SUM(pay - m) AS s FROM visits LEFT JOIN (SELECT pid, MAX(pay) AS m FROM visits GROUP BY pid) t USING (pid) WHERE pay < m;
SELECT COUNT(*) AS n, SUM(a.x) AS x, SUM(b.y) AS y, COUNT(b.y) AS c FROM (SELECT pid, SUM(age) AS x FROM visits WHERE sex = 'F' GROUP BY pid) a LEFT JOIN (SELECT pid, COUNT(*) AS y FROM visits WHERE sex = 'M' GROUP BY pid) b ON a.pid = b.pid;
SELECT COUNT(*) AS n, SUM(a.x - b.y) AS s FROM (SELECT pid, MAX(age) AS x FROM visits GROUP BY pid) a JOIN (SELECT person, MAX(nights) AS y FROM stays GROUP BY person) b ON a.pid = b.person WHERE b.y IS NOT NULL;
SELECT b.y > 2 AS g, COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, MAX(level) AS x FROM visits GROUP BY pid) a NATURAL LEFT JOIN (SELECT pid, COUNT(*) AS y FROM visits WHERE ok GROUP BY pid) b GROUP BY g;
SELECT COUNT(*) AS n FROM (SELECT pid, SUM(pay) AS p FROM visits GROUP BY pid) t RIGHT JOIN stays ON t.pid = stays.person WHERE p IS NULL OR p < 0;
SELECT coast, COUNT(*) AS n, SUM(c) AS s FROM visits JOIN places USING (town) LEFT JOIN (SELECT person, COUNT(*) AS c FROM stays WHERE nights > 0 GROUP BY person) t ON pid = person GROUP BY coast;
SELECT COUNT(*) AS n, SUM(nights) AS s, SUM(c) AS c FROM visits JOIN stays ON pid = person JOIN (SELECT pid, COUNT(DISTINCT town) AS c FROM visits GROUP BY pid) t ON stays.person = t.pid WHERE c > 1;
SELECT SUM(m) AS m, COUNT(*) AS n FROM (SELECT person, MAX(nights * c) AS m FROM stays JOIN (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid) t ON person = pid GROUP BY person) u;
SELECT COUNT(*) AS n, SUM(k) AS k, SUM(l) AS l FROM stays LEFT JOIN (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid) a ON a.pid = person LEFT JOIN (SELECT pid, SUM(level) AS l FROM visits GROUP BY pid) b ON b.pid = stays.person WHERE k > 1 OR l IS NULL;
WITH per AS (SELECT pid, AVG(cost) AS c FROM visits GROUP BY pid) SELECT town, COUNT(*) AS n FROM visits JOIN per USING (pid) WHERE cost > c GROUP BY town;

-- ## Written by hand: queries inside queries

SELECT SUM(x) AS s FROM (SELECT pid, age * 2 AS x FROM visits WHERE age > 17) t WHERE x < 200;
SELECT SUM(y) AS s, COUNT(y) AS n FROM (SELECT *, x + 1 AS y FROM (SELECT pid, pay / 2 AS x FROM visits) a) b;
SELECT g, COUNT(*) AS n FROM (SELECT pid, CASE WHEN ok THEN 'a' ELSE 'b' END AS g FROM visits) t GROUP BY g;
WITH a AS (SELECT * FROM visits WHERE ok), b AS (SELECT pid, age AS years, sex FROM a WHERE age > 17) SELECT sex, AVG(years) AS y FROM b GROUP BY sex;
WITH a AS (SELECT pid, pay AS age FROM visits) SELECT SUM(age) AS s FROM a;
SELECT t.s AS s, COUNT(*) AS n FROM (SELECT v.pid, v.sex AS s FROM visits v) AS t GROUP BY t.s;
SELECT COUNT(*) AS n FROM (SELECT pid, age FROM visits v JOIN places p ON v.town = p.town WHERE coast) t WHERE age > 30;
SELECT "Sex" AS s, COUNT(*) AS "The Number" FROM (SELECT pid, sex AS "Sex" FROM visits) q GROUP BY "Sex";
select Sex as s, count(*) as n from VISITS where AGE >= 18 group by SEX;
SELECT town, -- a comment
  COUNT(*) AS n /* and another */ FROM visits GROUP BY town;

-- ## Written by hand: what is done to answers

SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY n DESC, town;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY 2, 1 DESC LIMIT 3;
SELECT town, SUM(age) AS s FROM visits GROUP BY town ORDER BY COUNT(*), town LIMIT 2 OFFSET 1;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING COUNT(*) > 60 ORDER BY town;
SELECT town, AVG(age) AS a FROM visits GROUP BY town HAVING SUM(level) > 100 AND town <> 'Lugo';
SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING n > 10 AND AVG(pay) IS NOT NULL ORDER BY town DESC;
SELECT town, COUNT(*) AS n FROM visits WHERE age > 119 GROUP BY town HAVING COUNT(*) = 0;
--= SELECT town, 0 AS n FROM visits GROUP BY town HAVING COUNT_IF(age > 119) = 0
SELECT SUM(pay) / COUNT(*) AS a, SUM(age) / COUNT(age) AS b, SUM(level) / COUNT(*) AS c FROM visits;
SELECT ROUND(AVG(cost), 2) AS a, FLOOR(AVG(age)) AS f, CEIL(AVG(age)) AS c, TRUNC(AVG(pay)) AS t FROM visits;
SELECT 100.0 * COUNT(*) FILTER (WHERE ok) / COUNT(*) AS p, COUNT(*) - COUNT(ok) AS missing FROM visits;
SELECT town, COUNT(*) / SUM(COUNT(*)) OVER () AS share, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY town;
SELECT town, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, town) AS r, DENSE_RANK() OVER (ORDER BY COUNT(*) > 60) AS d FROM visits GROUP BY town;
SELECT town, sex, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY town) AS share FROM visits WHERE sex IN ('F', 'M') GROUP BY town, sex;
SELECT town, sex, RANK() OVER (PARTITION BY sex ORDER BY SUM(age) DESC) AS r, COUNT(*) OVER () AS k FROM visits WHERE sex IN ('F', 'M') GROUP BY town, sex;
SELECT town, AVG(age) - AVG(AVG(age)) OVER () AS gap, MAX(COUNT(*)) OVER () - COUNT(*) AS less, MIN(SUM(age)) OVER () AS lo FROM visits GROUP BY town;
SELECT AVG(cost) FILTER (WHERE sex = 'F') - AVG(cost) FILTER (WHERE sex = 'M') AS gap FROM visits;
SELECT SUM(cost * level) / SUM(level) AS weighted, SUM(age) % 7 AS m, SUM(age) // 7 AS q, -SUM(age) AS neg FROM visits;
SELECT SQRT(COUNT(*)) AS a, LN(COUNT(*)) AS b, EXP(AVG(level) / 10) AS c, ABS(SUM(pay)) AS d FROM visits;
SELECT GREATEST(COUNT(*), 10) AS a, LEAST(COUNT(*), SUM(level)) AS b, COALESCE(AVG(pay), 0) AS c, NULLIF(COUNT(*), 0) AS d FROM visits;
SELECT town, CASE WHEN COUNT(*) > 60 THEN 'many' ELSE 'few' END AS how, COUNT(*) > 60 AS many FROM visits GROUP BY town;
SELECT COUNT(*) / 0 AS a, COUNT(*) / NULLIF(SUM(level), 0) AS b, CAST(COUNT(*) AS DOUBLE) / 2 AS c FROM visits;
SELECT age // 30 AS g, g * 30 AS low, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY g;
--= SELECT age // 30 AS g, (age // 30) * 30 AS low, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY age // 30
SELECT COUNT(*) AS n, n * 2 AS twice FROM visits;
SELECT town, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY town ORDER BY s / n DESC LIMIT 1;
WITH a AS (SELECT town, SUM(age) AS s, COUNT(*) AS n FROM visits GROUP BY town) SELECT town, s / n AS mean FROM a WHERE n > 60 ORDER BY mean DESC;
SELECT town, n FROM (SELECT town, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY town) t WHERE s > 10 AND town <> 'Lugo' ORDER BY n, town;
SELECT town, n, n - MIN(n) OVER () AS more FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) t;
SELECT town, m FROM (SELECT town, s / n AS m FROM (SELECT town, SUM(age) AS s, COUNT(*) AS n FROM visits GROUP BY town) a) b WHERE m > 0 ORDER BY m LIMIT 2;
SELECT * FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) t ORDER BY n DESC, town LIMIT 2;
SELECT town, n AS s, s AS n FROM (SELECT town, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY town) t;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING COUNT(*) BETWEEN 10 AND 1000 AND NOT (SUM(age) IS NULL) ORDER BY AVG(age) DESC, town;
SELECT town AS t, COUNT(*) AS town FROM visits GROUP BY t ORDER BY t;
SELECT UPPER(town) AS t, COUNT(*) AS n FROM visits GROUP BY UPPER(town) HAVING UPPER(town) <> 'VIGO' ORDER BY UPPER(town);
SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) > 5;
SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) < 5;
SELECT device, COUNT(DISTINCT pid) AS units, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY device;
SELECT device, town, COUNT(DISTINCT pid) AS units, SUM(pay) AS s FROM visits GROUP BY device, town;
SELECT device, COUNT(DISTINCT pid) AS units, MEDIAN(age) AS m FROM visits WHERE ok GROUP BY device;
SELECT COALESCE(device, 'none') AS d, COUNT(DISTINCT pid) AS units FROM visits GROUP BY d;
SELECT pay, COUNT(*) AS n FROM (SELECT pid, ROUND(pay) AS pay FROM visits) t GROUP BY pay;
SELECT COUNT(*) AS n, SUM(m) AS s FROM (SELECT who, MAX(c) AS m FROM (SELECT pid AS who, town, COUNT(*) AS c FROM visits GROUP BY who, town) a GROUP BY who) t;
SELECT SUM(k) AS s, COUNT(*) AS n FROM (SELECT who, SUM(x) AS k FROM (SELECT pid AS who, level AS x FROM visits UNION ALL SELECT person, nights FROM stays) a GROUP BY who) t;
SELECT COUNT(*) AS n, SUM(c) AS s FROM (SELECT who, c FROM (SELECT pid AS who, COUNT(*) AS c FROM visits GROUP BY who) b WHERE c > 3) t WHERE c < 9;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT c * 2 AS x FROM (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid) a) b WHERE x > 6;

-- ## Written by hand: further

SELECT town, COUNT(DISTINCT code) FILTER (WHERE ok) AS c FROM visits GROUP BY town;
SELECT COUNT(DISTINCT CASE WHEN ok THEN town END) AS c, COUNT(DISTINCT level) FILTER (WHERE age > 60) AS d FROM visits;
SELECT COUNT(DISTINCT LEFT(town, 1)) AS c, COUNT(DISTINCT age // 10) AS d, COUNT(DISTINCT YEAR(day)) AS e FROM visits WHERE pay > 0;
SELECT DATE_TRUNC('quarter', day) AS q, COUNT(*) AS n FROM visits WHERE day IS NOT NULL GROUP BY q HAVING q >= DATE '2024-01-01' AND n > 0 ORDER BY q DESC;
SELECT YEAR(day) AS y, MONTH(day) AS m, COUNT(*) AS n FROM visits WHERE day IS NOT NULL GROUP BY y, m HAVING n > 3 ORDER BY y DESC, m LIMIT 4;
SELECT town, CASE WHEN town = 'Lugo' THEN COUNT(*) ELSE -1 END AS x, town = 'Vigo' AS v, COALESCE(town, 'none') AS c FROM visits GROUP BY town;
SELECT YEAR(day) AS y, y - 2000 AS short, COUNT(*) AS n FROM visits WHERE day IS NOT NULL GROUP BY y;
--= SELECT YEAR(day) AS y, YEAR(day) - 2000 AS short, COUNT(*) AS n FROM visits WHERE day IS NOT NULL GROUP BY YEAR(day)
SELECT town, sex, SUM(COUNT(*)) OVER (PARTITION BY sex) AS s, COUNT(*) OVER (PARTITION BY town) AS k, AVG(AVG(age)) OVER (PARTITION BY town) AS a FROM visits WHERE sex IN ('F', 'M') GROUP BY town, sex;
SELECT town, sex, ROW_NUMBER() OVER (PARTITION BY town ORDER BY COUNT(*) DESC, sex) AS r, DENSE_RANK() OVER (ORDER BY sex) AS d FROM visits WHERE sex IN ('F', 'M') GROUP BY town, sex ORDER BY town, r;
SELECT town, RANK() OVER (ORDER BY COUNT(*) > 64 DESC) AS r, ROW_NUMBER() OVER (ORDER BY town DESC) AS k FROM visits GROUP BY town ORDER BY k;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY town DESC OFFSET 1;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY town LIMIT 100 OFFSET 3;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY n % 2, n DESC, town;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY CASE WHEN town = 'Vigo' THEN 0 ELSE 1 END, town DESC;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING town IN ('Lugo', 'Vigo') OR n < 0 ORDER BY town;
SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING COUNT(*) > SUM(level) / 3 ORDER BY town;
SELECT town, SUM(pay) AS s FROM visits GROUP BY town HAVING NOT (s > 0) OR s IS NULL ORDER BY s;
SELECT a.town AS t, a.n + 1 AS m FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) a WHERE a.n BETWEEN 1 AND 1000 ORDER BY m, t;
WITH a AS (SELECT town, sex, COUNT(*) AS n FROM visits WHERE sex IN ('F', 'M') GROUP BY town, sex), b AS (SELECT town, sex, n, SUM(n) OVER (PARTITION BY town) AS t FROM a) SELECT town, sex, n / t AS share FROM b;
WITH a AS (SELECT town, COUNT(*) AS n, SUM(level) AS l FROM visits GROUP BY town), b AS (SELECT town, n - l AS d, n FROM a) SELECT town, d * 2 AS dd, ABS(d) + n AS e FROM b WHERE d <> 0 ORDER BY e, town;
SELECT x.n AS n FROM (SELECT COUNT(*) AS n FROM visits) x WHERE x.n > 0;
SELECT COUNT(*) AS n, SUM(a) AS s, SUM(b) AS t FROM (SELECT pid, AVG(pay) AS a, AVG(-pay) AS b FROM visits GROUP BY pid) t WHERE a < 0;
SELECT COUNT(*) AS n FROM (SELECT pid, AVG(age) AS a FROM visits GROUP BY pid) t WHERE a BETWEEN 30 AND 50.5;
SELECT FLOOR(a / 10) AS g, COUNT(*) AS n FROM (SELECT pid, AVG(age) AS a FROM visits GROUP BY pid) t GROUP BY g;
SELECT ROUND(s) > 10 AS g, COUNT(*) AS n, AVG(s) AS a FROM (SELECT pid, SUM(pay) AS s FROM visits GROUP BY pid) t GROUP BY g;
SELECT c % 2 AS odd, COUNT(*) AS n, SUM(c // 2) AS h FROM (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid) t GROUP BY odd;
SELECT DATE_TRUNC('year', f) AS y, COUNT(*) AS n FROM (SELECT pid, MIN(day) AS f FROM visits GROUP BY pid) t GROUP BY y;
SELECT SUM(DATEDIFF('day', f, l)) AS s, COUNT(*) AS n FROM (SELECT pid, MIN(day) AS f, MAX(day) AS l FROM visits WHERE ok GROUP BY pid) t;
SELECT SUM(HOUR(l)) AS s, COUNT(l) AS n FROM (SELECT pid, MAX(seen) AS l FROM visits GROUP BY pid) t;
SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(DISTINCT device) AS d, COUNT(device) AS k FROM visits GROUP BY pid HAVING COUNT(DISTINCT device) < COUNT(device)) t;
SELECT COUNT(*) AS n, SUM(m) AS s FROM (SELECT pid, MAX(x) AS m FROM (SELECT pid, town, AVG(age) AS x FROM visits GROUP BY pid, town HAVING COUNT(*) > 1) a GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(z) AS s FROM (SELECT pid, SUM(y) AS z FROM (SELECT pid, k, MAX(c) AS y FROM (SELECT pid, town AS k, level, COUNT(*) AS c FROM visits GROUP BY pid, town, level) a GROUP BY pid, k) b GROUP BY pid) c;
SELECT k, COUNT(*) AS n FROM (SELECT pid, CASE WHEN COUNT(*) > 6 THEN 'often' WHEN SUM(pay) > 0 THEN 'paying' ELSE 'other' END AS k FROM visits GROUP BY pid) t GROUP BY k;
SELECT COUNT(*) AS n, SUM(s) AS s FROM (SELECT pid, SUM(size) AS s FROM visits LEFT JOIN places USING (town) WHERE coast OR age > 60 GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(c) AS s FROM (SELECT v.pid, COUNT(*) AS c FROM visits v JOIN stays s ON v.pid = s.person WHERE v.day >= s.since GROUP BY v.pid) t;
SELECT coast, COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, town, COUNT(*) AS p FROM visits GROUP BY pid, town) t JOIN places ON t.town = places.town GROUP BY coast;
SELECT COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, SUM(level) AS p FROM visits GROUP BY pid) t WHERE pid IN (SELECT person FROM stays WHERE nights > 1);
SELECT t.p > 20 AS g, COUNT(*) AS n, COUNT(nights) AS k FROM (SELECT pid, SUM(level) AS p FROM visits GROUP BY pid) t LEFT JOIN stays s ON s.person = t.pid GROUP BY g;
SELECT COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, COUNT(*) AS p FROM visits GROUP BY pid UNION ALL SELECT person, COUNT(*) FROM stays GROUP BY person) u;
SELECT COUNT(*) AS n, SUM(q) AS s FROM (SELECT pid, SUM(p) AS q FROM (SELECT pid, MAX(age) AS p FROM visits GROUP BY pid UNION ALL SELECT person, nights FROM stays) u GROUP BY pid) t;
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits WHERE ok UNION ALL SELECT person FROM stays);
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits v JOIN stays s ON v.pid = s.person WHERE s.nights > 2);
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits JOIN places USING (town) WHERE coast) AND NOT ok;
SELECT CASE WHEN pid IN (SELECT person FROM stays) THEN 'guest' ELSE 'visitor' END AS g, COUNT(*) AS n, AVG(cost) AS a FROM visits GROUP BY g;
SELECT COUNT(*) AS n FROM visits JOIN stays ON pid = person WHERE pid NOT IN (SELECT pid FROM visits WHERE age > 100);
SELECT COUNT(*) AS n FROM visits WHERE CASE WHEN ok THEN pid IN (SELECT person FROM stays) ELSE age > 50 END;
SELECT COUNT(*) AS n FROM visits WHERE (pid IN (SELECT person FROM stays)) = ok;
SELECT u.k AS k, COUNT(*) AS n FROM (SELECT pid, sex AS k FROM visits UNION ALL SELECT person, 'F' FROM stays) u GROUP BY u.k;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, age AS x FROM visits UNION ALL SELECT pid, pay FROM visits) u;
SELECT COUNT(*) AS n, COUNT(b) AS b FROM (SELECT pid, ok AS b FROM visits UNION ALL SELECT person, nights > 3 FROM stays) u WHERE b IS NOT FALSE;
SELECT COUNT(*) AS n FROM visits v LEFT JOIN places p ON v.town = p.town AND v.code = p.town WHERE p.coast IS NULL AND v.ok;
SELECT COUNT(*) AS n, COUNT(s.nights) AS k FROM visits v LEFT JOIN stays s ON v.pid = s.person WHERE v.ok AND (s.nights > 2 OR s.nights IS NULL);
SELECT COUNT(*) AS n, COUNT(s.nights) AS k FROM visits v LEFT JOIN stays s ON v.pid = s.person AND v.town = s.place WHERE s.nights IS NULL;
SELECT COUNT(*) AS n, SUM(v.age) AS a FROM stays s LEFT JOIN visits v ON v.pid = s.person AND v.day = s.since WHERE COALESCE(v.age, 0) < 40;
SELECT nights, COUNT(*) AS n FROM stays LEFT JOIN visits ON pid = person WHERE nights < 4 GROUP BY nights;
SELECT SUM(CASE WHEN pay > 0 THEN pay ELSE 0 END) - SUM(CASE WHEN pay < 0 THEN -pay ELSE 0 END) AS net, SUM(pay) AS s FROM visits;
SELECT SUM(age * pay - cost * 2) AS a, SUM((age + 1) * (level - 1)) AS b, SUM(pay * pay * 2) AS c FROM visits;
SELECT SUM(age * 0.1) AS a, SUM(pay / 3) AS b, SUM(cost * 1.21) AS c FROM visits;
SELECT SUM(ROUND(cost * 1.5, 2)) AS a, SUM(ROUND(age / 3, 1)) AS b, SUM(FLOOR(age / 3) * 3) AS c FROM visits;
SELECT SUM(CASE WHEN ok THEN 0.5 WHEN NOT ok THEN 2 END) AS a, AVG(CASE WHEN ok THEN 1 END) AS b FROM visits;
SELECT SUM(GREATEST(LEAST(age, 65), 18)) AS a, SUM(LEAST(GREATEST(pay, -1.5), 2.5)) AS b FROM visits;
SELECT SUM(ABS(age - 50)) AS a, SUM(ABS(-pay)) AS b, SUM(-(-level)) AS c, SUM(+age) AS d FROM visits;
SELECT SUM(TRUNC(-pay)) AS a, SUM(CEIL(-pay)) AS b, SUM(FLOOR(-pay)) AS c, SUM(ROUND(-pay)) AS d FROM visits;
SELECT SUM(ROUND(age, -2)) AS a, SUM(TRUNC(age, -1)) AS b, SUM(FLOOR(-age, -1)) AS c, SUM(CEIL(age, -1)) AS d FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE ROUND(pay) = 3 OR TRUNC(pay) = -2 OR CEIL(cost) = 10;
SELECT COUNT(*) AS n FROM visits WHERE pay * 4 = ROUND(pay * 4) AND pay > LEAST(0, age - 20);
SELECT COUNT(*) AS n FROM visits WHERE age / 4 = age // 4;
SELECT COUNT(*) AS n FROM visits WHERE SQRT(age) >= 8 AND SQRT(level) = 3;
SELECT COUNT(*) AS n FROM visits WHERE CAST(pay AS BIGINT) % 2 = 0;
SELECT COUNT(*) AS n FROM visits WHERE age > 17 AND (sex = 'F' OR sex = 'M' AND ok) AND NOT (town = 'Lugo' OR town = 'Vigo');
SELECT COUNT(*) AS n FROM visits WHERE LAST_DAY(day) = day OR DAY(day + 1) = 1;
SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL 1 YEAR - INTERVAL 1 DAY > DATE '2024-12-30';
SELECT COUNT(*) AS n FROM visits WHERE DAYNAME(day) IN ('Saturday', 'Sunday') OR MONTHNAME(day) = 'February';
SELECT COUNT(*) AS n FROM visits WHERE STRFTIME(day, '%Y-%m') = '2024-02' OR STRFTIME(day, '%d') = '31';
SELECT COUNT(*) AS n FROM visits WHERE CAST(seen AS DATE) = day OR CAST(seen AS DATE) = DATE '2024-02-29';
SELECT COUNT(*) AS n FROM visits WHERE seen BETWEEN '2024-02-29 00:00:00' AND '2024-02-29 23:59:59';
SELECT SUM(DATEDIFF('hour', DATE_TRUNC('day', seen), seen)) AS a, SUM(DATEDIFF('minute', seen, seen + INTERVAL 90 SECOND)) AS b FROM visits;
SELECT SUM(DATEDIFF('month', day, seen)) AS a, SUM(DATEDIFF('day', day, CAST(seen AS DATE))) AS b, SUM(DATEDIFF('year', seen, day)) AS c FROM visits;
SELECT WEEK(seen) AS w, COUNT(*) AS n FROM visits GROUP BY w;
SELECT ISODOW(day) > 5 AS weekend, HOUR(seen) // 6 AS part, COUNT(*) AS n FROM visits GROUP BY weekend, part;
SELECT COUNT(*) AS n FROM visits WHERE UPPER(TRIM(code)) = 'A' OR LENGTH(TRIM(code)) = 0;
SELECT LENGTH(town) + LENGTH(code) AS l, COUNT(*) AS n FROM visits GROUP BY l;
SELECT CASE WHEN town LIKE 'L%' THEN UPPER(town) ELSE LOWER(town) END AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT REPLACE(UPPER(LEFT(town, 3)), 'U', '_') AS t, COUNT(*) AS n FROM visits GROUP BY t;
SELECT COUNT(*) AS n FROM visits WHERE town || ' ' || sex = 'Lugo F';
SELECT COUNT(*) AS n FROM visits WHERE CONTAINS(town, 'ñ') OR STARTS_WITH(code, 'Ñ') OR ENDS_WITH(code, '%');
SELECT device, COUNT(DISTINCT pid) AS units, COUNT(*) FILTER (WHERE ok) AS n, STDDEV_POP(age) AS s FROM visits WHERE device <> '' GROUP BY device ORDER BY units DESC, device LIMIT 2;
SELECT device, sex, COUNT(DISTINCT pid) AS units, AVG(pay) AS a FROM visits WHERE age > 17 GROUP BY device, sex;
SELECT device = 'phone' AS p, COUNT(*) AS n FROM visits GROUP BY p;
SELECT item, SUM(amount) / SUM(units) AS r, COUNT(*) FILTER (WHERE amount > units) AS n FROM sales GROUP BY item;
SELECT units, amount > 0 AS g, COUNT(*) AS n FROM sales GROUP BY units, g;
SELECT item, MEDIAN(units) AS m, VAR_POP(amount) AS v FROM sales WHERE amount IS NOT NULL GROUP BY item;

-- ## Written by hand: names over answers

SELECT a.town AS t, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a;
SELECT town AS n, n AS town FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a;
SELECT town AS t, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a WHERE town <> 'Lugo' ORDER BY t;
SELECT town AS t, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a ORDER BY town DESC;
SELECT town AS t, town AS u, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a;
SELECT town AS t, sex, n / SUM(n) OVER (PARTITION BY town) AS x FROM (SELECT town, sex, COUNT(*) AS n FROM visits WHERE sex IN ('F', 'M') GROUP BY town, sex) a;
SELECT t, n FROM (SELECT town AS t, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a) b WHERE t = 'Lugo';
SELECT t AS town, n FROM (SELECT town AS t, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a) b ORDER BY town;
SELECT town AS s, n, s AS t FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a;
SELECT town, n AS s, s AS n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a WHERE n < 65;
SELECT town, n AS s, s AS n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a ORDER BY n DESC, town;
SELECT town, n AS x FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a WHERE s > 0 ORDER BY n DESC, x, town;
SELECT TOWN AS Town, n FROM (SELECT town, COUNT(*) AS n, SUM(level) AS s FROM visits GROUP BY town) a;

-- ## Drawn: rows: filters, arithmetic, functions

SELECT town || '/' || code AS g, SUM(-(age)) AS a, SUM(level) AS b, SUM(COALESCE(age, CAST(pay AS BIGINT))) FILTER (WHERE sex <> 'M') AS c FROM nobody GROUP BY g;
SELECT SUM(level) AS a, COUNT(*) FILTER (WHERE CAST(pay AS BIGINT) IN (1, 2, 7)) AS b FROM visits;
SELECT age % 7 AS g, SUM(EXP(-level)) FILTER (WHERE day BETWEEN DATE '2023-02-01' AND DATE '2024-02-29') AS a, COUNT(DISTINCT town) AS b FROM nobody GROUP BY g;
SELECT MONTH(day) AS g, BIN(age, 0, 18, 120) AS h, AVG(NULLIF(LN(level + 1), 0)) AS a, SUM(SQRT(age / 7)) AS b, SUM((cost + age / 7)) AS c FROM visits GROUP BY g, h;
SELECT COALESCE(sex, 'none') AS g, AVG(POWER(pay, 2)) AS a, SUM(age / 7) AS b FROM visits GROUP BY g;
SELECT COUNT_IF(sex <> 'M') AS a FROM visits;
SELECT CASE WHEN ok IS NOT TRUE THEN 'yes' ELSE 'no' END AS g, town AS h, COUNT(DISTINCT town) AS a, COUNT(*) AS b, SUM(-(WIDTH_BUCKET(age, 10, 90, 4))) AS c FROM visits GROUP BY g, h;
SELECT LEFT(town, 1) AS g, COUNT(DISTINCT town) AS a FROM nobody GROUP BY g;
SELECT FLOOR(cost / 250) AS g, COUNT_IF(level = 0) AS a, SUM(CAST(ok AS INT)) AS b, SUM(level) AS c FROM single GROUP BY g;
SELECT sex AS g, BIN(age, 0, 18, 120) AS h, AVG(0.5) FILTER (WHERE town ILIKE '%CO%') AS a, SUM(MONTH(seen) // 2) AS b, SUM(TRUNC(EXP(-level))) AS c FROM visits GROUP BY g, h;
SELECT sex AS g, REPLACE(town, 'o', '0') AS h, COUNT(level) AS a, AVG(CAST(pay AS BIGINT)) AS b FROM visits GROUP BY g, h;
SELECT level AS g, SUM(ROUND(cost, 1)) FILTER (WHERE pay = 0) AS a, COUNT_IF(seen <> '2024-02-29 12:00') AS b FROM visits GROUP BY g;
SELECT device LIKE 'p%' AS g, ROUND(age, -1) AS h, COUNT(*) AS a, COUNT(DISTINCT town) AS b FROM visits GROUP BY g, h;
SELECT HOUR(seen) AS g, ISODOW(day) AS h, COUNT(DISTINCT town) AS a, SUM(LEAST(CAST(pay AS BIGINT), LENGTH(code))) AS b FROM visits WHERE pay IS NOT NULL GROUP BY g, h;
SELECT AVG(cost) AS a, COUNT_IF(age IN (0, 18, 120, 121)) AS b, COUNT(*) AS c FROM visits;
SELECT age // 30 AS g, COUNT(*) AS a FROM single WHERE pay < age / 7 GROUP BY g;
SELECT FLOOR(cost / 250) AS g, COUNT(*) FILTER (WHERE (town LIKE '_ugo' AND device LIKE '%e')) AS a, COUNT(*) AS b FROM visits GROUP BY g;
SELECT DATE_TRUNC('quarter', day) AS g, COUNT(*) AS a FROM visits GROUP BY g;
SELECT AVG(CASE WHEN town LIKE '_ugo' THEN pay END) AS a FROM visits;
SELECT COUNT_IF(SUBSTRING(town, 2, 2) = 'ug') AS a FROM visits;
SELECT level * 2 + 1 AS g, sex AS h, SUM(cost) FILTER (WHERE pay < -2.5) AS a, SUM(age) AS b FROM visits WHERE COALESCE(town IN ('Lugo', 'Vigo'), ok) GROUP BY g, h;
SELECT COALESCE(sex, 'none') AS g, COUNT_IF(CONTAINS(device, 'o')) AS a FROM visits WHERE CASE WHEN device LIKE '%e' THEN CAST(seen AS DATE) > LEAST(day, DATE '2023-01-31') ELSE FALSE END GROUP BY g;
SELECT TRUNC(pay / 10) AS g, ok AS h, COUNT(*) AS a, COUNT(WIDTH_BUCKET(age, 10, 90, 4)) AS b, COUNT_IF(code NOT LIKE '%a%') AS c FROM visits GROUP BY g, h;
SELECT ISODOW(day) AS g, AVG(pay) AS a, COUNT_IF(pay = -2.5) AS b, SUM(age) AS c FROM single GROUP BY g;

-- ## Drawn: variances, deviations and quantiles

SELECT town, QUANTILE(age, 0.9) AS a FROM visits GROUP BY town;
SELECT town, VAR_POP(age) AS a FROM visits GROUP BY town;
SELECT VAR_SAMP(age) AS a, QUANTILE(cost, 0.9) AS b FROM visits;
SELECT ok, STDDEV(cost) AS a FROM visits GROUP BY ok;
SELECT sex, STDDEV_POP(cost) AS a FROM visits GROUP BY sex;
SELECT town, VAR_POP(age) AS a FROM visits WHERE pay = -2.5 GROUP BY town;
SELECT ok, VAR_SAMP(pay) AS a FROM visits GROUP BY ok;
SELECT ok, VAR_POP(age) AS a FROM visits GROUP BY ok;
SELECT sex, VAR_POP(age) AS a FROM visits GROUP BY sex;
SELECT sex, VAR_SAMP(age * 2 + level) AS a FROM visits GROUP BY sex;
SELECT town, QUANTILE(cost, 0.25) AS a FROM visits GROUP BY town;
SELECT VARIANCE(age * 2 + level) AS a, VAR_POP(age) AS b FROM visits;

-- ## Drawn: A table whose rows are the units

SELECT item, COUNT(*) AS n, SUM(amount) AS s, AVG(units // 2) AS a FROM sales WHERE amount > 0 GROUP BY item;
SELECT item, COUNT(*) AS n, SUM(units) AS s, AVG(amount % units) AS a FROM sales WHERE units % 2 = 1 GROUP BY item;
SELECT units AS g, COUNT(*) AS n, SUM(amount) AS s FROM sales WHERE item <> 'pen' GROUP BY g;
SELECT item, COUNT(*) AS n, SUM(amount) AS s, AVG(units // 2) AS a FROM sales WHERE units % 2 = 1 GROUP BY item;
SELECT units AS g, COUNT(*) AS n, SUM(amount / units) AS s FROM sales WHERE amount > 0 GROUP BY g;
SELECT units AS g, COUNT(*) AS n, SUM(amount) AS s FROM sales WHERE units % 2 = 1 GROUP BY g;
SELECT units AS g, COUNT(*) AS n, SUM(units) AS s FROM sales GROUP BY g;
SELECT COUNT(*) AS n, SUM(amount / units) AS s, AVG(amount) AS a FROM sales WHERE item <> 'pen';
SELECT item, COUNT(*) AS n, SUM(amount / units) AS s, AVG(amount) AS a FROM sales WHERE units IS NOT NULL GROUP BY item;
SELECT COUNT(*) AS n, SUM(ABS(amount) - units) AS s, AVG(amount / units) AS a FROM sales WHERE item <> 'pen';
SELECT units AS g, COUNT(*) AS n, SUM(units) AS s FROM sales WHERE item <> 'pen' GROUP BY g;
SELECT COUNT(*) AS n, SUM(amount / units) AS s, AVG(amount % units) AS a FROM sales WHERE units % 2 = 1;

-- ## Drawn: groups that are selected privately

SELECT device, COUNT(DISTINCT pid) AS units, SUM((age - CEIL(POWER(pay, 2)))) AS a FROM visits GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, COUNT(*) FILTER (WHERE UPPER(town) = 'VIGO') AS a FROM visits WHERE sex IS NOT DISTINCT FROM 'F' GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, SUM(GREATEST(WIDTH_BUCKET(age, 10, 90, 4), STRPOS(town, 'o'), 3)) AS a FROM visits WHERE town IN ('Lugo', 'Vigo') GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, COUNT(*) AS a FROM visits WHERE (cost < 9.75 OR sex NOT IN ('F', 'X')) GROUP BY device;
SELECT device, town, COUNT(DISTINCT pid) AS units, SUM(WIDTH_BUCKET(age, 10, 90, 4)) AS a FROM visits GROUP BY device, town;
SELECT device, COUNT(DISTINCT pid) AS units, AVG(level) FILTER (WHERE STARTS_WITH(code, '5')) AS a FROM visits WHERE cost >= 9.75 GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, COUNT(DISTINCT town) AS a FROM visits GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, SUM(DATEDIFF('day', day, (day + 3))) AS a FROM visits GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, COUNT(*) FILTER (WHERE COALESCE(seen <> '2024-02-29 12:00', pay IN (0.25, -2.5))) AS a FROM visits GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, SUM((day - DATE '2024-02-29')) AS a FROM visits GROUP BY device;
SELECT device, COUNT(DISTINCT pid) AS units, SUM(COALESCE(TRY_CAST(age AS DOUBLE), 0)) FILTER (WHERE sex NOT IN ('F', 'X')) AS a FROM visits GROUP BY device;
SELECT device, town, COUNT(DISTINCT pid) AS units, SUM(NULLIF(COALESCE(CAST(ok AS INT), age), 1)) AS a FROM visits GROUP BY device, town;

-- ## Drawn: joins with a public table

SELECT size // 200 AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, SUM((DATEDIFF('year', (visits.day + 3), (visits.day - INTERVAL 2 WEEK)) + visits.level)) AS a FROM visits LEFT JOIN places USING (town) WHERE UPPER(visits.town) = 'VIGO' GROUP BY g;
SELECT coast AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, SUM(CAST(visits.ok AS INT)) FILTER (WHERE (visits.town > 'L') IS NULL) AS a FROM visits JOIN places ON visits.town = places.town GROUP BY g;
SELECT coast AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, COUNT(*) FILTER (WHERE visits.age >= 120) AS a FROM visits JOIN places USING (town) WHERE visits.town ILIKE '%CO%' GROUP BY g;
SELECT coast AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, SUM(visits.pay) AS a FROM visits LEFT JOIN places ON visits.town = places.town WHERE visits.day BETWEEN DATE '2023-02-01' AND DATE '2024-02-29' GROUP BY g;
SELECT size // 200 AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, SUM((visits.pay + visits.pay)) FILTER (WHERE visits.day <> '2023-01-01') AS a FROM visits JOIN places ON visits.town = places.town GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, SUM(visits.pay) FILTER (WHERE visits.age >= 18) AS a FROM visits JOIN places USING (town) WHERE (visits.level IS NULL AND NOT visits.ok) GROUP BY g;
SELECT coast AND visits.ok AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, AVG(NULLIF((visits.pay * visits.level), 0)) AS a FROM visits LEFT JOIN places USING (town) GROUP BY g;
SELECT coast AND visits.ok AS g, COUNT(*) AS n, SUM(size) AS s, COUNT(*) FILTER (WHERE visits.device LIKE '%e') AS a FROM visits JOIN places ON visits.town = places.town WHERE visits.sex = 'F' GROUP BY g;
SELECT size // 200 AS g, COUNT(*) AS n, SUM(size) AS s, COUNT(-(visits.cost)) AS a FROM visits JOIN places USING (town) WHERE visits.ok GROUP BY g;
SELECT coast AND visits.ok AS g, COUNT(*) AS n, SUM(size - visits.age) AS s, COUNT(DISTINCT visits.town) AS a FROM visits LEFT JOIN places USING (town) WHERE visits.day BETWEEN DATE '2023-02-01' AND DATE '2024-02-29' GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, SUM(size) AS s, AVG(LN(visits.level + 1)) AS a FROM visits LEFT JOIN places USING (town) GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, SUM(size) AS s, COUNT(CAST(LENGTH(visits.code) AS DOUBLE)) AS a FROM visits JOIN places USING (town) GROUP BY g;

-- ## Drawn: joins of private tables

SELECT YEAR(since) AS g, COUNT(*) AS n, SUM(nights) AS s, AVG(0.5) AS a FROM visits RIGHT JOIN stays ON visits.pid = stays.person GROUP BY g;
SELECT visits.sex AS g, COUNT(*) AS n, SUM(DATEDIFF('month', since, visits.day)) AS s, COUNT(*) FILTER (WHERE visits.level = 0) AS a FROM stays LEFT JOIN visits ON person = visits.pid GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, COUNT(DISTINCT visits.town) AS a FROM visits, stays WHERE visits.pid = person AND place = visits.town GROUP BY g;
SELECT visits.sex AS g, COUNT(*) AS n, COUNT(*) AS a FROM visits, stays WHERE visits.pid = person AND nights >= 3 GROUP BY g;
SELECT nights > 3 AS g, COUNT(*) AS n, COUNT(DISTINCT visits.town) AS a FROM visits, stays WHERE visits.pid = person AND nights > visits.level GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, COUNT(DISTINCT visits.town) AS a FROM visits, stays WHERE visits.pid = person AND nights > visits.level GROUP BY g;
SELECT YEAR(since) AS g, COUNT(*) AS n, SUM(nights) AS s, COUNT(*) FILTER (WHERE visits.sex IS NOT DISTINCT FROM 'F') AS a FROM visits JOIN stays ON visits.pid = person AND visits.town = place GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, SUM(DATEDIFF('month', since, visits.day)) AS s, AVG(TRUNC(visits.pay)) AS a FROM visits JOIN stays ON visits.pid = person AND visits.town = place WHERE visits.town > 'L' GROUP BY g;
SELECT nights > 3 AS g, COUNT(*) AS n, COUNT(nights - visits.level) AS c FROM visits JOIN stays ON visits.pid = person WHERE nights > visits.level GROUP BY g;
SELECT place AS g, COUNT(*) AS n, SUM(GREATEST((visits.pay + visits.pay), (visits.level + visits.age))) AS a FROM visits, stays WHERE visits.pid = person AND nights > visits.level GROUP BY g;
SELECT visits.town AS g, COUNT(*) AS n, SUM(DATEDIFF('month', since, visits.day)) AS s, COUNT(*) AS a FROM visits LEFT JOIN stays ON person = visits.pid AND visits.town = place GROUP BY g;
SELECT YEAR(since) AS g, COUNT(*) AS n, COUNT(nights * visits.pay) AS c FROM visits JOIN stays ON visits.pid = person WHERE since <= visits.day GROUP BY g;

-- ## Drawn: UNION ALL

SELECT t, COUNT(*) AS n, SUM(k) AS s, AVG(k) AS a FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT pid, COALESCE(CAST(pay AS BIGINT), level) % 7, town FROM visits ) u GROUP BY t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits WHERE sex = 'F' UNION ALL SELECT pid, CAST(pay AS BIGINT), 'none' FROM visits WHERE day BETWEEN DATE '2023-02-01' AND DATE '2024-02-29' UNION ALL SELECT person, 0, 'Lugo' FROM stays WHERE nights > 1) a GROUP BY pid) t;
SELECT t, COUNT(*) AS n, SUM(k) AS s, AVG(k) AS a FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT pid, CASE WHEN TRIM(code) = 'a' THEN age END, 'none' FROM visits ) u GROUP BY t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits WHERE age NOT BETWEEN 10 AND 70 UNION ALL SELECT person, nights, place FROM stays UNION ALL SELECT person, 0, 'Lugo' FROM stays WHERE nights > 1) a GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT person, nights, place FROM stays UNION ALL SELECT person, nights, place FROM stays) a GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits WHERE sex <> 'M' UNION ALL SELECT person, nights, place FROM stays) a GROUP BY pid) t;
SELECT t, COUNT(*) AS n, SUM(k) AS s, AVG(k) AS a FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT pid, CEIL(0.5), 'none' FROM visits UNION ALL SELECT pid, MOD(STRPOS(town, 'o'), 5), town FROM visits ) u GROUP BY t;
SELECT t, COUNT(*) AS n, SUM(k) AS s, AVG(k) AS a FROM (SELECT pid, age AS k, town AS t FROM visits WHERE pay IN (0.25, -2.5) UNION ALL SELECT person, 0, 'Lugo' FROM stays WHERE nights > 1) u GROUP BY t;
SELECT t, COUNT(*) AS n, SUM(k) AS s, AVG(k) AS a FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT pid, MOD(STRPOS(town, 'o'), 5), town FROM visits UNION ALL SELECT person, nights, place FROM stays) u GROUP BY t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT pid, CASE WHEN pay < (pay % 2) THEN ROUND(age, -1) ELSE CASE WHEN level = 0 THEN level ELSE 7 END END, town FROM visits UNION ALL SELECT pid, LEAST((7) % (CAST(pay AS BIGINT)), 7 % -3), 'none' FROM visits ) a GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits UNION ALL SELECT pid, FLOOR(LN(level + 1)), town FROM visits WHERE sex IS NOT DISTINCT FROM 'F') a GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT pid, SUM(k) AS x FROM (SELECT pid, age AS k, town AS t FROM visits WHERE day BETWEEN DATE '2023-02-01' AND DATE '2024-02-29' UNION ALL SELECT person, 0, 'Lugo' FROM stays WHERE nights > 1) a GROUP BY pid) t;

-- ## Drawn: lists of units

SELECT town, SUM(WIDTH_BUCKET(age, 10, 90, 4)) AS a, COUNT(*) AS b, AVG((CAST(ok AS INT) * 1)) FILTER (WHERE pay < cost) AS c FROM visits WHERE pid IN (SELECT pid FROM visits WHERE age NOT BETWEEN 10 AND 70) GROUP BY town;
SELECT town, COUNT(*) FILTER (WHERE UPPER(town) = 'VIGO') AS a, AVG(7) AS b, SUM(STRPOS(town, 'o')) FILTER (WHERE pay < 0.5) AS c FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING SUM(pay) > 3) GROUP BY town;
SELECT town, COUNT(age / 7) AS a, COUNT(*) AS b, COUNT(*) FILTER (WHERE NOT (pay IS NOT NULL)) AS c FROM visits WHERE (pid IN (SELECT person FROM stays WHERE since < '2024-01-01') OR day <> (day - INTERVAL 13 MONTH)) GROUP BY town;
SELECT COUNT(*) FILTER (WHERE STARTS_WITH(code, '5')) AS a, AVG(GREATEST(WIDTH_BUCKET(age, 10, 90, 4), age, 3)) AS b FROM visits WHERE (pid IN (SELECT pid FROM visits GROUP BY pid HAVING MIN(age) IS NULL) OR day > '2023-06-30');
SELECT age % 7 AS g, COUNT_IF(TRIM(code) = 'a') AS a FROM visits WHERE pid NOT IN (SELECT person FROM stays WHERE nights > 2) GROUP BY g;
SELECT ROUND(age, -1) AS g, SUM(age) FILTER (WHERE town LIKE '_ugo') AS a, AVG(age) FILTER (WHERE code NOT LIKE '%a%') AS b, COUNT(*) FILTER (WHERE town LIKE '_ugo') AS c FROM visits WHERE (pid IN (SELECT person FROM stays WHERE nights > 2) OR sex IS NOT DISTINCT FROM 'F') GROUP BY g;
SELECT town, COUNT(DISTINCT town) AS a, AVG((7 - age)) AS b, AVG(WIDTH_BUCKET(age, 10, 90, 4) // 10) AS c FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING MAX(level) = 9) GROUP BY town;
SELECT ROUND(age, -1) AS g, SUM(cost) AS a, SUM(CAST(ok AS INT)) AS b FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING COUNT(pay) < COUNT(*)) GROUP BY g;
SELECT town, SUM(MONTH(seen)) AS a, COUNT(*) AS b FROM visits WHERE (pid IN (SELECT person FROM stays WHERE since < '2024-01-01') OR age BETWEEN 17 AND 64) GROUP BY town;
SELECT SUM(-(ROUND(LN(level + 1)))) AS a, COUNT_IF(UPPER(town) = 'VIGO') AS b, COUNT(*) FILTER (WHERE level = 0) AS c FROM visits WHERE pid NOT IN (SELECT pid FROM visits GROUP BY pid HAVING AVG(age) > 40);
SELECT ISODOW(day) AS g, AVG(LN(level + 1)) AS a FROM visits WHERE pid IN (SELECT person FROM stays) GROUP BY g;
SELECT SUM(pay) AS a, AVG(EXP(-level)) FILTER (WHERE town > 'L') AS b, SUM(age / 7) FILTER (WHERE ok IS NOT TRUE) AS c FROM visits WHERE pid NOT IN (SELECT person FROM stays);

-- ## Drawn: one row per unit

SELECT q > 1 AS g, COUNT(*) AS n, COUNT(p + q) AS c, SUM(ABS(p)) AS s FROM (SELECT pid, SUM(pay) / COUNT(*) AS p, CASE WHEN COUNT(*) > 3 THEN MAX(pay) END AS q FROM visits GROUP BY pid HAVING AVG(age) > 40) t WHERE q <= 5 GROUP BY g;
SELECT q > 1 AS g, COUNT(*) AS n, COUNT(COALESCE(p, q, 0)) AS c, SUM(ABS(p)) AS s FROM (SELECT pid, MAX(level) * 2 AS p, SUM(pay) / COUNT(*) AS q FROM visits WHERE NOT (device LIKE '%e') GROUP BY pid HAVING MAX(level) = 9) t WHERE q <= 5 GROUP BY g;
SELECT q > 1 AS g, COUNT(*) AS n, COUNT(p) AS c, SUM(CASE WHEN p > q THEN 1 ELSE 0 END) AS s FROM (SELECT pid, MAX(age) - MIN(age) AS p, AVG(cost) AS q FROM visits GROUP BY pid HAVING SUM(cost) >= 100 AND COUNT(*) > 2) t GROUP BY g;
SELECT COUNT(*) AS n, COUNT(p + q) AS c, SUM(COALESCE(p, q, 0)) AS s FROM (SELECT pid, CASE WHEN COUNT(*) > 3 THEN MAX(pay) END AS p, SUM(CASE WHEN TRIM(code) = 'a' THEN 1 ELSE 0 END) AS q FROM visits GROUP BY pid HAVING MIN(day) < DATE '2023-06-30') t;
SELECT COUNT(*) AS n, COUNT(p + q) AS c, SUM(ABS(p)) AS s FROM (SELECT pid, CASE WHEN COUNT(*) > 3 THEN MAX(pay) END AS p, MAX(level) * 2 AS q FROM visits GROUP BY pid ) t WHERE p > 2;
SELECT CASE WHEN p > 2 THEN 'more' ELSE 'less' END AS g, COUNT(*) AS n, COUNT(p) AS c, SUM(CASE WHEN p > q THEN 1 ELSE 0 END) AS s FROM (SELECT pid, SUM(CASE WHEN level = 0 THEN 1 ELSE 0 END) AS p, COALESCE(SUM(age), 0) AS q FROM visits GROUP BY pid HAVING MAX(level) = 9) t WHERE q <= 5 GROUP BY g;
SELECT COUNT(*) AS n, COUNT(CASE WHEN p > q THEN 1 ELSE 0 END) AS c, SUM(p + q) AS s FROM (SELECT pid, COALESCE(SUM(age), 0) AS p, SUM(LENGTH(code)) AS q FROM visits WHERE (day - INTERVAL 1 YEAR) < DATE '2023-06-30' GROUP BY pid ) t;
SELECT q > 1 AS g, COUNT(*) AS n, COUNT(COALESCE(p, q, 0)) AS c, SUM(q) AS s FROM (SELECT pid, -MIN(cost) AS p, SUM(pay) AS q FROM visits WHERE device LIKE 'p%' GROUP BY pid HAVING COUNT(pay) < COUNT(*)) t GROUP BY g;
SELECT COUNT(*) AS n, COUNT(ABS(p)) AS c, SUM(q) AS s FROM (SELECT pid, SUM(IF(ok, level, CAST(ok AS INT))) FILTER (WHERE COALESCE(ok IS NOT TRUE, sex NOT IN ('F', 'X'))) AS p, SUM(CAST(ok AS INT)) AS q FROM visits GROUP BY pid HAVING MIN(age) IS NULL) t;
SELECT COUNT(*) AS n, COUNT(q) AS c, SUM(p + q) AS s FROM (SELECT pid, MAX(age) AS p, CASE WHEN COUNT(*) > 3 THEN MAX(pay) END AS q FROM visits GROUP BY pid ) t WHERE p IS NOT NULL;
SELECT CASE WHEN p > 2 THEN 'more' ELSE 'less' END AS g, COUNT(*) AS n, COUNT(CASE WHEN p > q THEN 1 ELSE 0 END) AS c, SUM(CASE WHEN p > q THEN 1 ELSE 0 END) AS s FROM (SELECT pid, MIN(pay) AS p, COALESCE(SUM(age), 0) AS q FROM visits GROUP BY pid HAVING MIN(age) IS NULL) t WHERE q <= 5 GROUP BY g;
SELECT q > 1 AS g, COUNT(*) AS n, COUNT(p + q) AS c, SUM(q) AS s FROM (SELECT pid, MAX(GREATEST(7, level, 3)) AS p, MAX(age) - MIN(age) AS q FROM visits GROUP BY pid HAVING COUNT(*) > 4) t WHERE p > 2 GROUP BY g;

-- ## Drawn: one row per unit and value

SELECT COUNT(*) AS n, SUM(m) AS s, SUM(c) AS c FROM (SELECT pid, MAX(p) AS m, COUNT(*) AS c FROM (SELECT pid, level AS k, AVG(age) AS p FROM visits WHERE NOT (age IS DISTINCT FROM 18) GROUP BY pid, k) i GROUP BY pid) t;
SELECT c > 2 AS g, COUNT(*) AS n, SUM(m) AS s FROM (SELECT pid, SUM(p) AS m, COUNT(p) AS c FROM (SELECT pid, ok AS k, SUM(pay) / COUNT(*) AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t WHERE c > 0 GROUP BY g;
SELECT COUNT(*) AS n, SUM(m) AS s, SUM(c) AS c FROM (SELECT pid, MAX(p) AS m, COUNT(*) AS c FROM (SELECT pid, level AS k, CASE WHEN COUNT(*) > 3 THEN MAX(pay) END AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(m) AS s, SUM(c) AS c FROM (SELECT pid, MAX(p) AS m, COUNT(*) AS c FROM (SELECT pid, ok AS k, -MIN(cost) AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t;
SELECT COUNT(*) AS n, SUM(m) AS s, SUM(c) AS c FROM (SELECT pid, MAX(p) AS m, COUNT(*) AS c FROM (SELECT pid, town AS k, MIN(pay) AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t;
SELECT c > 2 AS g, COUNT(*) AS n, SUM(m) AS s FROM (SELECT pid, SUM(p) AS m, COUNT(p) AS c FROM (SELECT pid, town AS k, SUM(GREATEST(7, age, 3)) FILTER (WHERE UPPER(town) = 'VIGO') AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t WHERE c > 0 GROUP BY g;
SELECT c > 2 AS g, COUNT(*) AS n, SUM(m) AS s FROM (SELECT pid, SUM(p) AS m, COUNT(p) AS c FROM (SELECT pid, town AS k, MAX(age) - MIN(age) AS p FROM visits WHERE (age IS DISTINCT FROM 18) = (age NOT BETWEEN 10 AND 70) GROUP BY pid, k) i GROUP BY pid) t WHERE c > 0 GROUP BY g;
SELECT c > 2 AS g, COUNT(*) AS n, SUM(m) AS s FROM (SELECT pid, SUM(p) AS m, COUNT(p) AS c FROM (SELECT pid, ok AS k, SUM(NULLIF(age, 10)) FILTER (WHERE (day - INTERVAL 1 YEAR) <= day) AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t WHERE c > 0 GROUP BY g;
SELECT COUNT(*) AS n, SUM(m) AS s, SUM(c) AS c FROM (SELECT pid, MAX(p) AS m, COUNT(*) AS c FROM (SELECT pid, town AS k, COALESCE(SUM(age), 0) AS p FROM visits GROUP BY pid, k) i GROUP BY pid) t;
SELECT k, COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, ok AS k, COUNT(*) AS p FROM visits WHERE TRUNC(cost) IN (1, 2, 7) GROUP BY pid, k) t GROUP BY k;
SELECT k, COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, ok AS k, COUNT(pay) AS p FROM visits WHERE device LIKE 'p%' GROUP BY pid, k) t GROUP BY k;
SELECT k, COUNT(*) AS n, SUM(p) AS s FROM (SELECT pid, YEAR(day) AS k, AVG(age) AS p FROM visits GROUP BY pid, k) t GROUP BY k;

-- ## Drawn: one row per unit, joined

SELECT nights > 2 AS g, COUNT(*) AS n, SUM(p + q) AS s FROM (SELECT pid, MAX(level) * 2 AS p, SUM(pay) / COUNT(*) AS q FROM visits GROUP BY pid ) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(q) AS s FROM (SELECT pid, SUM(pay) AS p, SUM(CAST(pay AS BIGINT)) AS q FROM visits WHERE (ok IS NOT TRUE OR town ILIKE '%CO%') IS TRUE GROUP BY pid ) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(p + q) AS s FROM (SELECT pid, MAX(ROUND(cost)) AS p, SUM(WIDTH_BUCKET(age, 10, 90, 4)) FILTER (WHERE NOT (town ILIKE '%CO%')) AS q FROM visits WHERE seen <= '2024-02-29 12:00' GROUP BY pid ) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT place, COUNT(*) AS n, SUM(COALESCE(p, q, 0)) AS s, AVG(nights) AS a FROM (SELECT pid, COUNT(*) FILTER (WHERE town LIKE '_ugo') AS p, -MIN(cost) AS q FROM visits GROUP BY pid ) t JOIN stays ON t.pid = stays.person GROUP BY place;
SELECT place, COUNT(*) AS n, SUM(p + q) AS s, AVG(nights) AS a FROM (SELECT pid, SUM(pay) AS p, -MIN(cost) AS q FROM visits WHERE TRIM(code) = 'a' GROUP BY pid HAVING MIN(day) < DATE '2023-06-30') t JOIN stays ON t.pid = stays.person GROUP BY place;
SELECT place, COUNT(*) AS n, SUM(ABS(p)) AS s, AVG(nights) AS a FROM (SELECT pid, AVG(cost) AS p, SUM(CASE WHEN sex NOT IN ('F', 'X') THEN 1 ELSE 0 END) AS q FROM visits GROUP BY pid ) t JOIN stays ON t.pid = stays.person GROUP BY place;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(p + q) AS s FROM (SELECT pid, AVG(cost) AS p, SUM(TRUNC(cost)) AS q FROM visits WHERE town > 'L' GROUP BY pid HAVING COUNT(pay) < COUNT(*)) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(COALESCE(p, q, 0)) AS s FROM (SELECT pid, SUM(pay) AS p, LEAST(COUNT(*), 3) AS q FROM visits GROUP BY pid ) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT place, COUNT(*) AS n, SUM(q) AS s, AVG(nights) AS a FROM (SELECT pid, MIN(pay) AS p, COUNT(DISTINCT day) AS q FROM visits WHERE TRIM(code) = 'a' GROUP BY pid ) t JOIN stays ON t.pid = stays.person GROUP BY place;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(q) AS s FROM (SELECT pid, AVG(age) AS p, MAX(level) * 2 AS q FROM visits GROUP BY pid ) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;
SELECT place, COUNT(*) AS n, SUM(ABS(p)) AS s, AVG(nights) AS a FROM (SELECT pid, MAX(age) - MIN(age) AS p, SUM(-(CAST(ok AS INT))) FILTER (WHERE (age BETWEEN 17 AND 64) = (ok IS NULL)) AS q FROM visits WHERE STARTS_WITH(code, '5') GROUP BY pid HAVING COUNT(*) > 4) t JOIN stays ON t.pid = stays.person GROUP BY place;
SELECT nights > 2 AS g, COUNT(*) AS n, SUM(ABS(p)) AS s FROM (SELECT pid, COALESCE(SUM(age), 0) AS p, SUM(pay) / COUNT(*) AS q FROM visits GROUP BY pid ) t LEFT JOIN stays ON t.pid = stays.person GROUP BY g;

-- ## Drawn: queries inside queries

SELECT y, SUM(z) AS z, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM (SELECT *, x + age AS z FROM (SELECT pid, town, age, GREATEST(0.5, SIGN(pay)) AS x, seen <> '2024-02-29 12:00' AS y FROM visits WHERE (sex = 'F' AND code NOT LIKE '%a%')) i WHERE age >= 18) o GROUP BY y;
SELECT y, SUM(z) AS z, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM (SELECT *, x + age AS z FROM (SELECT pid, town, age, TRY_CAST(age AS DOUBLE) AS x, (ok) IS NULL AS y FROM visits WHERE (level = 0 OR sex <> 'M') IS TRUE) i WHERE x IS NOT NULL) o GROUP BY y;
WITH w AS (SELECT pid, town, age, CASE WHEN device LIKE '%e' THEN pay END AS x, pay IS NOT NULL AS y FROM visits ) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w GROUP BY town;
WITH w AS (SELECT pid, town, age, COALESCE(age / 7, 0) AS x, day BETWEEN DATE '2023-02-01' AND DATE '2024-02-29' AS y FROM visits ) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w WHERE y GROUP BY town;
WITH w AS (SELECT pid, town, age, (level * 7) AS x, town LIKE '_ugo' AS y FROM visits ) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w GROUP BY town;
WITH w AS (SELECT pid, town, age, ((pay % 2) * 2) AS x, (COALESCE(age BETWEEN 17 AND 64, sex <> 'M') AND LENGTH(code) IN (1, 2, 7)) AS y FROM visits WHERE ok) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w WHERE x > 0 OR y GROUP BY town;
SELECT y, SUM(z) AS z, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM (SELECT *, x + age AS z FROM (SELECT pid, town, age, pay AS x, sex <> 'M' AS y FROM visits ) i WHERE age >= 18) o GROUP BY y;
WITH w AS (SELECT pid, town, age, (LENGTH(code) - age) AS x, (town ILIKE '%CO%') = (SUBSTRING(town, 2, 2) = 'ug') AS y FROM visits ) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w WHERE age >= 18 GROUP BY town;
WITH w AS (SELECT pid, town, age, TRUNC(pay) AS x, (day - INTERVAL 13 MONTH) < (day + INTERVAL 40 DAY) AS y FROM visits ) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w WHERE x > 0 OR y GROUP BY town;
WITH w AS (SELECT pid, town, age, LN(level + 1) AS x, pay = -2.5 AS y FROM visits WHERE pay >= 0) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w WHERE age >= 18 GROUP BY town;
SELECT y, SUM(z) AS z, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM (SELECT *, x + age AS z FROM (SELECT pid, town, age, ABS(cost::DOUBLE / 4) AS x, WIDTH_BUCKET(age, 10, 90, 4) IS NULL AS y FROM visits ) i ) o GROUP BY y;
WITH w AS (SELECT pid, town, age, MONTH(seen) AS x, UPPER(town) = 'VIGO' AS y FROM visits ) SELECT town, COUNT(*) AS n, SUM(x) AS s, COUNT_IF(y) AS c, AVG(CASE WHEN y THEN age END) AS a FROM w WHERE age >= 18 GROUP BY town;

-- ## Drawn: arithmetic on answers

SELECT town AS g, (AVG(SUM(age)) OVER () + SUM(age) // 10 / NULLIF(SUM(age) // 10, 0)) AS a, MAX(COUNT(*)) OVER () AS b FROM visits GROUP BY g;
SELECT ok AS g, 100.0 * STDDEV_POP(age) / COUNT(*) / SUM(COUNT(*)) OVER () AS a FROM visits WHERE ok IS NOT NULL GROUP BY g;
SELECT age >= 30 AS g, SUM(pay) AS a FROM visits WHERE age IS NOT NULL GROUP BY g;
SELECT ok AS g, SUM(age) AS a, SUM(age * level) / SUM(level) AS b FROM visits WHERE ok IS NOT NULL GROUP BY g;
SELECT sex AS g, ((SUM(AVG(age)) OVER () - STDDEV_POP(age)) * 2.5) AS a, RANK() OVER (ORDER BY COUNT(*) DESC) AS b FROM visits WHERE sex IN ('F', 'M') GROUP BY g;
SELECT town AS g, COUNT(pay) AS a, COUNT(*) FILTER (WHERE ok) AS b FROM visits GROUP BY g;
SELECT town AS g, (SUM(age * level) / SUM(level) + 100.0 * AVG(age) / ABS(AVG(cost))) AS a, SUM(age) AS b FROM visits GROUP BY g;
SELECT town AS g, FLOOR(STDDEV_POP(age)) AS a, SUM(pay) AS b FROM visits GROUP BY g;
SELECT sex AS g, SUM(CASE WHEN age > 17 THEN 1 ELSE 0 END) AS a FROM visits WHERE sex IN ('F', 'M') GROUP BY g;
SELECT town AS g, COUNT(*) AS a, (AVG(cost) * 2.5) AS b FROM visits GROUP BY g;
SELECT age >= 30 AS g, COUNT(*) AS a FROM visits WHERE age IS NOT NULL GROUP BY g;
SELECT age >= 30 AS g, COUNT(*) / SUM(COUNT(*)) OVER () AS a, ABS(GREATEST(COUNT(*) FILTER (WHERE ok), COUNT(*) % 7)) AS b FROM visits WHERE age IS NOT NULL GROUP BY g;

-- ## Drawn: HAVING, ORDER BY and LIMIT

SELECT YEAR(day) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE day IS NOT NULL GROUP BY g ORDER BY n, g LIMIT 1 OFFSET 1;
SELECT town AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g HAVING n >= 30 AND s > 10 ORDER BY s DESC, g OFFSET 1;
SELECT YEAR(day) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE day IS NOT NULL GROUP BY g ORDER BY s / n DESC, g LIMIT 1 OFFSET 1;
SELECT YEAR(day) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE day IS NOT NULL GROUP BY g HAVING COUNT(*) > 40 ORDER BY COUNT(*) DESC, g LIMIT 1 OFFSET 1;
SELECT CASE WHEN pay > 0 THEN 'plus' ELSE 'rest' END AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g HAVING COUNT(*) > 40 ORDER BY s DESC, g LIMIT 1 OFFSET 1;
SELECT town AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g HAVING AVG(age) < 60 ORDER BY n, g LIMIT 1 OFFSET 1;
SELECT sex AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE sex IN ('F', 'M') GROUP BY g HAVING LN(COUNT(*)) > 5 ORDER BY s DESC, g OFFSET 1;
SELECT town AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g ORDER BY COUNT(*) DESC, g;
SELECT CASE WHEN pay > 0 THEN 'plus' ELSE 'rest' END AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g HAVING LN(COUNT(*)) > 5 ORDER BY COUNT(*) DESC, g;
SELECT town AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g HAVING AVG(age) < 60 ORDER BY 2, 1 LIMIT 1 OFFSET 1;
SELECT sex AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE sex IN ('F', 'M') GROUP BY g HAVING COUNT(*) > 40 ORDER BY SUM(level), g OFFSET 1;
SELECT town AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g HAVING n <> 3 OR s IS NULL ORDER BY s / n DESC, g LIMIT 10;

-- ## Drawn: queries over answers

SELECT g, n, s % n AS x FROM (SELECT YEAR(day) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE day IS NOT NULL GROUP BY g) t WHERE NOT (s < 100);
SELECT g, n, n * 2 AS x FROM (SELECT UPPER(town) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g) t WHERE s / n < 60 ORDER BY s DESC, g LIMIT 2;
SELECT g, n / SUM(n) OVER () AS x, MAX(s) OVER () AS m FROM (SELECT CASE WHEN pay > 0 THEN 'plus' ELSE 'rest' END AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g) t;
SELECT g, n / SUM(n) OVER () AS x, MAX(s) OVER () AS m FROM (SELECT UPPER(town) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g) t;
SELECT g, n / SUM(n) OVER () AS x, MAX(s) OVER () AS m FROM (SELECT town AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g) t;
SELECT g, n / SUM(n) OVER () AS x, MAX(s) OVER () AS m FROM (SELECT sex AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE sex IN ('F', 'M') GROUP BY g) t;
WITH w AS (SELECT YEAR(day) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE day IS NOT NULL GROUP BY g) SELECT g, n, CASE WHEN n > 50 THEN s ELSE n END AS x FROM w WHERE n > 40 ORDER BY x, g;
SELECT g, n, s / n AS x FROM (SELECT sex AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE sex IN ('F', 'M') GROUP BY g) t WHERE s / n < 60 ORDER BY x, g;
SELECT g, n, ROUND(s, -1) AS x FROM (SELECT sex AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE sex IN ('F', 'M') GROUP BY g) t WHERE NOT (s < 100) ORDER BY x, g;
SELECT g, n, s - n AS x FROM (SELECT YEAR(day) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE day IS NOT NULL GROUP BY g) t WHERE n > 40;
SELECT g, n, n * 2 AS x FROM (SELECT CASE WHEN pay > 0 THEN 'plus' ELSE 'rest' END AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g) t WHERE s / n < 60 ORDER BY x, g;
SELECT g, n, n * 2 AS x FROM (SELECT UPPER(town) AS g, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY g) t ORDER BY n, g;
