/** How much of a long matrix is run. `test`: minutes, on every change; `ci`: a seeded sample of everything; `soak`: all of it. */
export type Tier = "test" | "ci" | "soak";

const named = process.env["KEELSON_TIER"] ?? "test";
if (named !== "test" && named !== "ci" && named !== "soak") throw new Error(`KEELSON_TIER is "${named}": use test, ci or soak`);

export const tier: Tier = named;

/** Picks by tier, as in `byTier({ test: 20, ci: 200, soak: 2000 })`. */
export function byTier<T>(choices: Readonly<Record<Tier, T>>): T {
  return choices[tier];
}

/** The seed of this run: `KEELSON_SEED`, or the day, so that samples change from day to day and are known afterwards. */
export const seed: number = process.env["KEELSON_SEED"] === undefined ? Math.floor(Date.now() / 86_400_000) : Number(process.env["KEELSON_SEED"]);
