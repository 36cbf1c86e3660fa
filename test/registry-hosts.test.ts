import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The hosts of package registries and their mirrors. Examples use hosts of `example.com` instead, which never lead anywhere. */
const REGISTRY_HOSTS = new RegExp(
  [
    String.raw`\b(?:npmjs|npmmirror|jsr)\.(?:org|com|io)\b`,
    String.raw`\bregistry\.(?!example\b)[a-z0-9-]+\.(?:org|com|io|net|dev)\b`,
    String.raw`\b(?:unpkg|jsdelivr|esm|skypack|yarnpkg)\.(?:com|net|sh|dev)\b`,
    String.raw`\b(?:pypi|pythonhosted|anaconda|crates|rubygems|packagist|nuget|hex|metacpan)\.(?:org|io|com|pm)\b`,
    String.raw`\b(?:proxy\.golang|repo1\.maven|repo\.maven|deb\.debian|archive\.ubuntu|dl-cdn\.alpinelinux)\.(?:org|com)\b`,
    String.raw`\b(?:ghcr|gcr|quay|docker)\.io\b`,
    String.raw`\b(?:hub\.docker|mcr\.microsoft|public\.ecr|pkg\.github)\.(?:com|aws)\b`,
  ].join("|"),
  "i",
);

function hostsIn(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => REGISTRY_HOSTS.exec(line)?.[0] ?? []);
}

describe("the repository", () => {
  it("names no package registry as a host in sources, tests, examples, documents and lock files", () => {
    const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
      .split("\0")
      .filter((file) => file !== "" && file !== "test/registry-hosts.test.ts" && !/\.(?:png|db|db-wal|bin|br|wasm|gz)$/.test(file));
    expect(files.length).toBeGreaterThan(1000);
    const found = files.flatMap((file) => {
      try {
        return hostsIn(readFileSync(join(root, file), "utf8")).map((host) => `${file}: ${host}`);
      } catch (error) {
        // Removed, and not committed yet.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
    });
    expect(found).toEqual([]);
  });

  it.each([
    ["https://registry.npmjs.org/left-pad", 1],
    ["https://files.pythonhosted.org/x", 1],
    ["docker.io/library/node", 1],
    ["https://packages.example.com/left-pad", 0],
    ["registry.example.com", 0],
    ["npm install keelson", 0],
  ])("is scanned by a rule that finds hosts in %j %i times", (text, count) => {
    expect(hostsIn(text)).toHaveLength(count);
  });
});
