/** Resolves a reference at the edge: the environment of a child process, a header of a request to an allowed host. Values never enter messages, events or logs. */
export interface SecretResolver {
  resolve(reference: string, options?: { readonly signal?: AbortSignal }): Promise<string>;
}
