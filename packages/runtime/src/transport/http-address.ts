import { ModelError } from "@keelson/protocol";
import type { TransportRequest } from "./transport.ts";

/** @throws ModelError of kind `invalid-request` when it is no address of http or https */
export function httpAddress({ url: text, origin }: TransportRequest): URL {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  const problem = url === null ? "is no URL" : "is neither http nor https";
  throw new ModelError({ kind: "invalid-request", message: `"${text}" ${problem}: correct baseUrl`, progress: "unsent", ...origin });
}

/** An IPv6 address as sockets know it. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
