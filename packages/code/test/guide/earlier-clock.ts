/** Loaded before the command by `NODE_OPTIONS`: its clock is behind by so many hours, and by half an hour that a slow machine may use up. */
const HOUR_MS = 3_600_000;
const behind = (Number(process.env["KEELSON_HOURS_AGO"]) + 0.5) * HOUR_MS;
const { now } = Date;
Date.now = () => now() - behind;
