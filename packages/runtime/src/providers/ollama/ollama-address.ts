const DEFAULT_PORT = "11434";

/**
 * Where the server is, told as Ollama itself reads `OLLAMA_HOST`: a host, a port (`:8080`), both, or an address. An address with
 * a scheme has that scheme's port; `0.0.0.0` is what a server listens on, not where a client finds it.
 */
export function ollamaAddress(host: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/s.exec(host.trim().replace(/^(["'])(.*)\1$/, "$2")) ?? [];
  const [, authority = "", path = ""] = /^([^/?]*)(.*)$/s.exec(rest) ?? [];
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority) ?? [, authority];
  const bare = name === "" ? "localhost" : name === "0.0.0.0" || name === "[::]" ? "127.0.0.1" : name;
  const shownPort = port !== undefined && port !== "" ? `:${port}` : scheme === undefined ? `:${DEFAULT_PORT}` : "";
  // People copy the address with the API's own path.
  return `${scheme ?? "http"}://${bare}${shownPort}${path.replace(/\/+$/, "").replace(/\/(?:api|v1)$/, "")}`;
}
