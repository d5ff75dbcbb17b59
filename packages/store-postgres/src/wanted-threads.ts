import type { ThreadsQuery } from '@parley/core';

import { type Sql, sql } from './sql.ts';

/** Some finding of the thread is open. */
export const DISPUTED = sql`json_array_length(t.state::json -> 'findings') > 0`;

const GROUPS = {
  open: sql`t.status IN ('active', 'blocked')`,
  blocked: sql`(t.status = 'blocked' OR (t.status = 'active' AND ${DISPUTED}))`,
  done: sql`t.status IN ('resolved', 'closed')`,
};

const READ = sql`coalesce(c.last_read_seq, 0)`;

/** Something of another stands after the reader's cursor `c` in the thread `t`. */
export function unreadBy(reader: string): Sql {
  const own = sql`(SELECT nth FROM entries e WHERE e.thread_id = t.thread_id AND e.sender = ${reader}`;
  return sql`t.last_seq > ${READ} AND t.last_seq - ${READ} > coalesce(${own} ORDER BY e.seq DESC LIMIT 1), 0) - coalesce(${own} AND e.seq <= ${READ} ORDER BY e.seq DESC LIMIT 1), 0)`;
}

type Wanted = Pick<
  ThreadsQuery,
  | 'workspace_id'
  | 'participant'
  | 'reader'
  | 'status'
  | 'side_of'
  | 'unread'
  | 'before'
  | 'group'
  | 'with_any'
>;

/** What else is asked of the threads `t` of a list; words of the title are looked for outside. */
export function wantedThreads(query: Wanted): Sql {
  const { workspace_id, participant, reader, status, side_of, unread, before, group, with_any } = query;
  const has = (name: Sql): Sql =>
    sql`AND EXISTS (SELECT 1 FROM participants p WHERE p.workspace_id = ${workspace_id} AND p.agent_id ${name} AND p.thread_id = t.thread_id)`;
  return sql`
    ${participant === undefined ? sql`` : has(sql`= ${participant}`)}
    ${with_any === undefined ? sql`` : has(sql`= ANY(${[...with_any]})`)}
    ${status === undefined ? sql`` : sql`AND t.status = ${status}`}
    ${group === undefined ? sql`` : sql`AND ${GROUPS[group]}`}
    ${side_of === undefined ? sql`` : sql`AND t.side_of = ${side_of}`}
    ${unread ? sql`AND ${unreadBy(reader)}` : sql``}
    ${before === undefined ? sql`` : sql`AND (t.updated_at, t.born) < (${before.updated_at}, coalesce((SELECT b.born FROM threads b WHERE b.thread_id = ${before.thread_id}), 0))`}`;
}
