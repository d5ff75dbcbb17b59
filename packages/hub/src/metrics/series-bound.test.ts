import { expect, test } from 'vitest';

import { createSeriesBound, OTHER } from './series-bound.ts';

const series = { action: 'a', tenant: 't', principal: 'p', status: 'SUCCESS', error_code: '' };

test('[C-ENV-32] the first keep their names, the rest is counted together, one tenant cannot take all the room', () => {
  const bound = createSeriesBound(50);
  const seen = new Set<string>();
  const put = (one: typeof series): string => {
    const labels = JSON.stringify(bound(one));
    seen.add(labels);
    return labels;
  };
  for (let i = 0; i < 10_000; i++) put({ ...series, principal: `p${i}` });
  expect(seen.size).toBe(11);
  expect(put({ ...series, principal: 'p0' })).toContain('"p0"');
  expect(put({ ...series, principal: 'p9999' })).toContain(`"principal":"${OTHER}"`);
  expect(put({ ...series, tenant: 'u' })).toContain('"tenant":"u"');
  for (let i = 0; i < 10_000; i++) put({ ...series, tenant: `t${i}` });
  expect(seen.size).toBeLessThanOrEqual(50 + 2);
});
