import { frozenCopy } from "../thread/frozen.ts";
import type { Event } from "./event.ts";

/** An event as the machine keeps it: a copy of what somebody else holds. What can't be copied, because it holds itself, is as it is: no event, and refused as that. */
export const ownedEvent = (event: Event): Event => {
  try {
    return frozenCopy(event);
  } catch {
    return event;
  }
};
