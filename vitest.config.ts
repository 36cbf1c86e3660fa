import { defineConfig } from "vitest/config";

// Sources are tested as they are: workspace packages resolve through their `source` condition.
export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source", "node", "import", "default"] } },
  test: { include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "test/**/*.test.ts"] },
});
