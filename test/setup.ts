// Makes a whole run of the tests repeatable: `KEELSON_SEED=7 npm test` gives every property test that seed.
// Loaded for each test file, so it imports nothing when there is nothing to set.
const { KEELSON_SEED, KEELSON_TIER } = process.env;

if (KEELSON_SEED !== undefined || KEELSON_TIER === "soak") {
  const { configureGlobal } = await import("fast-check");
  const seed = KEELSON_SEED === undefined ? undefined : Number(KEELSON_SEED);
  if (seed !== undefined && !Number.isInteger(seed)) throw new Error(`KEELSON_SEED is "${KEELSON_SEED}": give it an integer`);
  configureGlobal({ ...(seed !== undefined && { seed }), ...(KEELSON_TIER === "soak" && { numRuns: 1000 }) });
}
