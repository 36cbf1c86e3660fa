/**
 * Loaded before the command by `NODE_OPTIONS`: its clock is behind by `KEELSON_HOURS_AGO` and a thousand times slower, because some durations are
 * shown only from a second on.
 */
const HOUR_MS = 3_600_000;
const SLOWNESS = 1_000;
const { now } = Date;
const start = now();
const first = start - Math.round(Number(process.env["KEELSON_HOURS_AGO"]) * HOUR_MS);
Date.now = () => first + Math.floor((now() - start) / SLOWNESS);
