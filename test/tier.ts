/** How much of a long matrix is run. `test`: minutes, on every change; `ci`: a seeded sample of everything; `soak`: all of it. */
export type Tier = "test" | "ci" | "soak";

const named = process.env["KEELSON_TIER"] ?? "test";
if (named !== "test" && named !== "ci" && named !== "soak") throw new Error(`KEELSON_TIER is "${named}": use test, ci or soak`);

export const tier: Tier = named;

/** The seed of this run: `KEELSON_SEED`, or the day, so that samples change from day to day and can be drawn again. */
export const seed: number =
  process.env["KEELSON_SEED"] === undefined ? Math.floor(Date.now() / 86_400_000) : Number(process.env["KEELSON_SEED"]);
if (!Number.isSafeInteger(seed)) throw new Error(`KEELSON_SEED is "${process.env["KEELSON_SEED"]}": give it an integer`);

/** How many members of a long matrix to run, as in `sampleSize("kills at random points", { test: 20, ci: 200, soak: 2000 })`; it prints what was chosen. */
export function sampleSize(matrix: string, sizes: Readonly<Record<Tier, number>>): number {
  process.stdout.write(`sample of ${matrix}: ${sizes[tier]} of ${sizes.soak} (tier ${tier}, seed ${seed})\n`);
  return sizes[tier];
}
