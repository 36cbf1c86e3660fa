import { execFileSync } from "node:child_process";

/** Whether real sandboxes can be made here. Fails where `KEELSON_REQUIRE_BUBBLEWRAP` is set and they can't. */
export const hasBubblewrap: boolean = ((): boolean => {
  try {
    execFileSync("bwrap", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    if (process.env["KEELSON_REQUIRE_BUBBLEWRAP"] !== undefined) throw new Error("KEELSON_REQUIRE_BUBBLEWRAP is set: install bubblewrap");
    return false;
  }
})();
