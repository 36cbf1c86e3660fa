// A checker of Stryker that lets a sample of the mutants pass (`npm run mutate -- --sample 0.1`). Which ones follows from the seed, and from
// what each mutant is and where: the same code has the same sample.
import { createHash } from "node:crypto";
import { CheckStatus, type Checker, type CheckResult } from "@stryker-mutator/api/check";
import type { Mutant } from "@stryker-mutator/api/core";
import { declareClassPlugin, PluginKind } from "@stryker-mutator/api/plugin";

const seed = process.env["KEELSON_SEED"] ?? "";
/** 0 to 1. */
const share = Number(process.env["KEELSON_MUTATION_SAMPLE"]);

function isSampled({ mutatorName, replacement, location: { start } }: Mutant): boolean {
  const digest = createHash("sha256")
    .update(JSON.stringify([seed, mutatorName, replacement, start.line, start.column]))
    .digest();
  return digest.readUInt32BE(0) / 2 ** 32 < share;
}

class SampleChecker implements Checker {
  async init(): Promise<void> {
    if (!(share > 0 && share <= 1))
      throw new Error(`the sample of mutants must be a share above 0 and up to 1, not ${process.env["KEELSON_MUTATION_SAMPLE"]}`);
  }

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    return Object.fromEntries(
      mutants.map((mutant): [string, CheckResult] => [
        mutant.id,
        isSampled(mutant) ? { status: CheckStatus.Passed } : { status: CheckStatus.CompileError, reason: "not in the sample" },
      ]),
    );
  }

  /** All at once: each check is a message between processes. */
  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, "sample", SampleChecker)];
