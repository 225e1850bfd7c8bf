import { type Dialect, dialect } from "../dialect.ts";

/** Of servers that nothing is known of: what all of the others take. Fields go back to where they are known to come from. */
export const common: Dialect = dialect("common", { ownFields: true });
