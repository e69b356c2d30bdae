import { bramwell } from './bramwell.ts';
import { calderFinch } from './calder-finch.ts';
import { judian } from './judian.ts';
import { lanyu } from './lanyu.ts';
import { nordhaven } from './nordhaven.ts';
import { qinghe } from './qinghe.ts';
import type { ClientContent } from './types.ts';

export { people } from './people.ts';
export type * from './types.ts';

/** The demo's six clients with their workspaces, ideas and guidance. */
export const clients: ClientContent[] = [nordhaven, qinghe, calderFinch, lanyu, bramwell, judian];
