import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Manifest } from "../package-entries.ts";

export interface PackedPackage {
  readonly manifest: Manifest;
  readonly tarball: Buffer;
}

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
}

/** Serves these packages to package managers, and redirects requests for all others to `upstream`. */
export async function startLocalRegistry(packages: readonly PackedPackage[], upstream: string): Promise<LocalRegistry> {
  // A path of its own, so that no cache of a package manager knows an earlier registry under this address.
  const prefix = `/${randomUUID()}/`;
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "").slice(prefix.length));
    const found = packages.find(({ manifest }) => path === manifest.name || path === tarballPath(manifest));
    if (found === undefined) {
      response.writeHead(307, { location: new URL((request.url ?? "").slice(prefix.length), upstream).href }).end();
      return;
    }
    const isTarball = path === tarballPath(found.manifest);
    response.writeHead(200, { "content-type": isTarball ? "application/octet-stream" : "application/json", "cache-control": "no-store" });
    response.end(isTarball ? found.tarball : JSON.stringify(documentOf(found, url)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function tarballPath({ name, version }: Manifest): string {
  return `${name}/-/${name.split("/").at(-1)}-${version}.tgz`;
}

function documentOf({ manifest, tarball }: PackedPackage, url: string): object {
  const { name, version } = manifest;
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: `${url}${tarballPath(manifest)}`, integrity };
  return { name, "dist-tags": { latest: version }, "versions": { [version]: { ...manifest, dist } } };
}
