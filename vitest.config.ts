import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Sources are tested as they are: workspace packages resolve through their `source` condition.
export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source", "node"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    // By default one core is left alone, which is half of a small machine; many tests wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    // For machines that are slow or busy. What hangs, hangs for longer than this. In the soak laws draw many more cases.
    testTimeout: process.env["KEELSON_TIER"] === "soak" ? 120_000 : 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.test-d.ts"],
      reporter: ["text-summary", "html"],
    },
    typecheck: {
      // Only with `--typecheck` (`npm test` passes it). The native compiler needs a second for what the other needs ten.
      include: ["packages/*/src/**/*.test-d.ts", "packages/*/test/**/*.test-d.ts", "test/**/*.test-d.ts"],
      checker: "node_modules/typescript7/bin/tsc",
      tsconfig: "tsconfig.types.json",
      // `npm run typecheck` judges the sources; here an error outside of a type test would only be reported twice.
      ignoreSourceErrors: true,
    },
  },
});
