/** The variables that name the servers of stores, as `pnpm servers` sets them. */
export const serverVariables = { postgres: "COLLOQUY_POSTGRES_URL", redis: "COLLOQUY_REDIS_URL" } as const;

export type ServerName = keyof typeof serverVariables;

// The keys of the object above.
export const serverNames = Object.keys(serverVariables) as readonly ServerName[];

/** Null if no server is named. */
export const serverUrl = (name: ServerName): string | null => process.env[serverVariables[name]] || null;

/** @throws if no server is named */
export const neededServerUrl = (name: ServerName): string => {
  const url = serverUrl(name);
  if (url === null) throw new Error(`${serverVariables[name]} names no server; \`pnpm servers\` starts one`);
  return url;
};
