import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSeatbeltProfile } from "./seatbelt-profile.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'keelson "seat\\belt" ')));
afterAll(() => rmSync(workspace, { recursive: true }));

// What macOS makes of it is not known here; these hold what the text says.
describe("the profile for macOS", () => {
  it("denies what isn't named, lets the workspace be written, and takes back what is protected and denied after it", async () => {
    const profile = await createSeatbeltProfile({ filesystem: { deniedPaths: ["secrets"] } }, { workspace });
    const at = (line: string): number => profile.indexOf(line);
    const path = workspace.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    expect(profile.startsWith("(version 1)\n(deny default)\n")).toBe(true);
    expect(at(`(allow file-write* (subpath "${path}"))`)).toBeGreaterThan(0);
    expect(at(String.raw`/(.*/)?\.git/hooks(/|$)"))`)).toBeGreaterThan(at("(allow file-write* "));
    expect(at(`(literal "${path}/.git")`)).toBeGreaterThan(at("(deny file-write-unlink"));
    expect(at(`(subpath "${path}/secrets")`)).toBeGreaterThan(at("(deny file-read* file-write*"));
    expect(profile).not.toContain("network");
  });

  it("lets only the proxy be reached, and only where the policy has a network", async () => {
    const options = { workspace, proxyPort: 3128 };
    expect(await createSeatbeltProfile({ network: { enabled: true } }, options)).toContain(
      '(allow network-outbound (remote ip "localhost:3128"))',
    );
    expect(await createSeatbeltProfile({ network: { enabled: false } }, options)).not.toContain("network-outbound");
  });
});
