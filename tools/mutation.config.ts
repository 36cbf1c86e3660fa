// How vitest runs under mutation (`npm run mutate`): only fast tests, of which each part names its own, and no type tests.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// The mutated copy of the workspace borrows the installed node_modules, whose links to our packages lead to the sources as they are:
// without these aliases the tests would exercise those, and every mutant would live.
const workspace = join(import.meta.dirname, "..");
const alias = readdirSync(join(workspace, "packages")).flatMap((folder) => {
  const home = join(workspace, "packages", folder);
  const { name, exports = {} } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
    readonly name: string;
    readonly exports?: Readonly<Record<string, string | { readonly source?: string }>>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" || target.source === undefined
      ? []
      : [{ find: new RegExp(`^${name}${path.slice(1)}$`), replacement: join(home, target.source) }],
  );
});

/** Whoever notices a mutant ends its run: those who take long to look come last. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const patience = (file: string): number =>
      [/\/src\//, /\/agent\//, /\/crash\//, /sessions|signals/, /laws|model-based/].findLastIndex((slow) => slow.test(file));
    return [...files].sort((a, b) => patience(a.moduleId) - patience(b.moduleId) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

export default defineConfig({
  root: workspace,
  resolve: { conditions: ["source"], alias },
  ssr: { resolve: { conditions: ["source", "node", "import", "default"] } },
  test: {
    include: JSON.parse(process.env["KEELSON_MUTATION_TESTS"] ?? "[]") as string[],
    // They take seconds, wait for processes, or speak of other parts.
    exclude: [
      "packages/runtime/test/agent/{schedules,shell-hooks,background-tasks}.test.ts",
      "packages/runtime/src/agent/features/hooks/*.test.ts",
      "packages/runtime/src/agent/definition/permissions/permission-rule.test.ts",
    ],
    setupFiles: ["test/setup.ts"],
    // Thousands of runs of a few tests each: what the files import is loaded once per run.
    isolate: false,
    sequence: { sequencer: QuickFirst },
  },
});
