-- Pairs of statements that ask the same; the second of each begins with an equals sign.

-- ## One measurement, whatever it is called and however it is shown

SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 18 AND 65
= SELECT COUNT(*) AS m FROM visits WHERE age <= 65 AND 18 <= age
SELECT COUNT(*) AS n FROM visits WHERE ok AND age > 3
= SELECT COUNT(*) AS n FROM visits v WHERE v.age > 3 AND v.ok
SELECT COUNT(*) AS n FROM visits WHERE age IN (3, 1, 2)
= SELECT COUNT(*) AS n FROM visits WHERE age IN (1, 2, 3, 3)
SELECT COUNT(*) FILTER (WHERE ok) AS n FROM visits
= SELECT COUNT_IF(ok) AS n FROM visits
SELECT SUM(age) FILTER (WHERE ok) AS n FROM visits
= SELECT SUM(CASE WHEN ok THEN age END) AS n FROM visits
SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING n > 5
= SELECT town, n FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) t WHERE n > 5
SELECT town, COUNT(*) AS n FROM visits GROUP BY town
= SELECT town, n * 2 AS m FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY 1) t ORDER BY m LIMIT 2
SELECT SUM(pay) AS s, COUNT(*) AS n FROM visits
= SELECT COUNT(*) AS n, SUM(pay) AS s, s + n AS t FROM visits
SELECT SUM(x) AS s FROM (SELECT pid, age + 1 AS x FROM visits WHERE ok) t
= WITH t AS (SELECT * FROM visits WHERE ok) SELECT SUM(age + 1) AS s FROM t
SELECT AVG(age) AS a FROM visits
= SELECT SUM(age) / COUNT(age) AS a FROM visits
SELECT coast, COUNT(*) AS n FROM visits JOIN places USING (town) GROUP BY coast
= SELECT coast, COUNT(*) AS n FROM visits NATURAL JOIN places GROUP BY coast
SELECT COUNT(*) AS n FROM visits JOIN stays ON pid = person
= SELECT COUNT(*) AS n FROM visits, stays WHERE person = pid
SELECT COUNT(*) AS n FROM stays LEFT JOIN visits ON pid = person
= SELECT COUNT(*) AS n FROM visits RIGHT JOIN stays ON pid = person
SELECT SUM(n) AS s FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid HAVING COUNT(*) > 2) t
= SELECT SUM(n) AS s FROM (SELECT pid AS p, COUNT(*) AS n FROM visits GROUP BY p) t WHERE n > 2
SELECT item AS i, units > 0 AS u, COUNT(*) AS n FROM sales GROUP BY i, u
= SELECT units > 0 AS more, item, COUNT(*) AS n FROM sales GROUP BY more, item

-- ## The same answer by other measurements

SELECT COUNT(*) AS n FROM visits WHERE age IN (0, 18, 120)
= SELECT COUNT(*) AS n FROM visits WHERE age = 0 OR age = 18 OR age = 120
SELECT COUNT(*) AS n FROM visits WHERE age NOT IN (0, 18)
= SELECT COUNT(*) AS n FROM visits WHERE age <> 0 AND age <> 18
SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.pid = s.person
= SELECT COUNT(*) AS n FROM stays s JOIN visits v ON s.person = v.pid
SELECT COUNT(DISTINCT pid) AS n FROM visits
= SELECT COUNT(*) AS n FROM (SELECT pid FROM visits GROUP BY pid) t
SELECT SUM(age) AS n FROM visits
= SELECT SUM(s) AS n FROM (SELECT pid, SUM(age) AS s FROM visits GROUP BY pid) t
SELECT SUM(age) AS n FROM visits
= SELECT SUM(k) AS n FROM (SELECT pid, age AS k FROM visits WHERE ok UNION ALL SELECT pid, age FROM visits WHERE ok IS NOT TRUE) t
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT person FROM stays)
= SELECT COUNT(*) - COUNT(*) FILTER (WHERE pid NOT IN (SELECT person FROM stays)) AS n FROM visits
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits WHERE ok)
= SELECT SUM(c) AS n FROM (SELECT pid, COUNT(*) AS c FROM visits GROUP BY pid HAVING COUNT_IF(ok) > 0) t
SELECT town, COUNT(*) AS n FROM visits GROUP BY town
= SELECT town, SUM(1) AS n FROM visits GROUP BY town
SELECT town, COUNT(*) AS n FROM visits JOIN places USING (town) GROUP BY town
= SELECT town, COUNT(*) AS n FROM visits GROUP BY town
SELECT LEFT(town, 1) = 'L' AS g, COUNT(*) AS n FROM visits GROUP BY g
= SELECT town IN ('Lugo', 'Lorca') AS g, COUNT(*) AS n FROM visits GROUP BY g
SELECT YEAR(day) AS g, COUNT(*) AS n FROM visits GROUP BY g
= SELECT YEAR(DATE_TRUNC('year', day)) AS g, COUNT(*) AS n FROM visits GROUP BY g
SELECT SUM(day - DATE '2023-01-01') AS n FROM visits
= SELECT SUM(DATEDIFF('day', DATE '2023-01-01', day)) AS n FROM visits
SELECT AVG(pay) AS n FROM visits WHERE ok
= SELECT SUM(pay) / COUNT(pay) AS n, SUM(pay) AS s FROM visits WHERE ok
SELECT ROUND(VAR_POP(age), 3) AS n FROM visits
= SELECT ROUND(AVG(age * age) - AVG(age) * AVG(age), 3) AS n FROM visits
SELECT COUNT(*) AS n FROM visits WHERE NOT (age = 3)
= SELECT COUNT(*) AS n FROM visits WHERE age <> 3
SELECT COUNT(*) AS n FROM visits WHERE age IS DISTINCT FROM level
= SELECT COUNT(*) AS n FROM visits WHERE COALESCE(age <> level, age IS NOT NULL OR level IS NOT NULL)
