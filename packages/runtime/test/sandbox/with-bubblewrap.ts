import { execFileSync } from "node:child_process";
import { describe } from "vitest";

const hasBubblewrap = process.platform === "linux" && runs("bwrap", ["--version"]);
if (!hasBubblewrap && process.env["KEELSON_REQUIRE_BUBBLEWRAP"] !== undefined)
  throw new Error("KEELSON_REQUIRE_BUBBLEWRAP is set, and there is no bwrap here: install bubblewrap");

/** Tests in real sandboxes: skipped where there is no bubblewrap, unless `KEELSON_REQUIRE_BUBBLEWRAP` is set. */
export function describeWithBubblewrap(name: string, tests: () => void): void {
  describe.skipIf(!hasBubblewrap)(hasBubblewrap ? name : `${name} (skipped: bubblewrap is not installed)`, tests);
}

function runs(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
