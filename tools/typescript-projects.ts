import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";

/** The tsconfig files that together hold every TypeScript file of the workspace. A package without one is an error: nothing would check it. */
export function typescriptProjects(): readonly string[] {
  const packages = readdirSync(join(root, "packages")).sort();
  const bare = packages.filter((name) => !existsSync(join(root, "packages", name, "tsconfig.json")));
  if (bare.length > 0) throw new Error(`These packages have no tsconfig.json, so nothing would check them: ${bare.join(", ")}`);
  const files = packages.flatMap((name) => ["tsconfig.json", "tsconfig.test.json"].map((file) => join("packages", name, file)));
  return [...files.filter((path) => existsSync(join(root, path))), "tsconfig.json"];
}

/** The project that checks the published sources against the types of the oldest Node that they support. */
export const LEAST_NODE_PROJECT: string = join("tools", "installed", "tsconfig.json");
