import type { PersonContent } from './types.ts';

const person = (
  email: string,
  name: string,
  locale: 'en' | 'zh',
  temper: number,
  role: 'user' | 'admin' = 'user',
): PersonContent => ({ email: `${email}@sparkroom.example`, name, locale, temper, role });

/** The twenty people of the demo, by the short name that the content uses. */
export const people: Record<string, PersonContent> = {
  helen: person('admin', 'Helen Okafor', 'en', 0, 'admin'),
  mara: person('user0', 'Mara Lindqvist', 'en', 0.1),
  jiahao: person('user1', '陈嘉豪', 'zh', 0.5),
  tom: person('user2', 'Tom Aldridge', 'en', -0.9),
  siyu: person('user3', '李思雨', 'zh', 0),
  priya: person('user4', 'Priya Raman', 'en', 0.3),
  jianguo: person('user5', '王建国', 'zh', -0.8),
  jonas: person('user6', 'Jonas Weber', 'en', -0.4),
  yutong: person('user7', '赵雨桐', 'zh', 0.7),
  sofia: person('user8', 'Sofia Marchetti', 'en', 0.9),
  wenbo: person('user9', '周文博', 'zh', -0.2),
  daniel: person('daniel.osei', 'Daniel Osei', 'en', 0.4),
  grace: person('grace.whitfield', 'Grace Whitfield', 'en', -0.3),
  lars: person('lars.henriksen', 'Lars Henriksen', 'en', -0.6),
  zimo: person('huang.zimo', '黄子墨', 'zh', 0.2),
  jingyi: person('xu.jingyi', '徐静怡', 'zh', 0.6),
  emma: person('emma.doyle', 'Emma Doyle', 'en', 0.2),
  rafael: person('rafael.costa', 'Rafael Costa', 'en', 0.8),
  haoran: person('sun.haoran', '孙浩然', 'zh', -0.5),
  nadia: person('nadia.haddad', 'Nadia Haddad', 'en', 0),
};
