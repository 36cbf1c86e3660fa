/** What a plugin is told of the turn it may act on. */
export interface PluginInput {
  readonly turn: number;
  readonly message?: string;
}
