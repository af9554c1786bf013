package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// titleOf is what an error's code says where the error says no more.
func titleOf(code string) phrase {
	return map[string]phrase{
		"invalid":             {"invalid request", "请求有误"},
		"unauthorized":        {"unauthorized: a valid key is needed", "未授权：需要有效的密钥"},
		"forbidden":           {"forbidden: the key does not allow this", "不允许：密钥没有这个权限"},
		"not_found":           {"not found: it does not exist, or it belongs to somebody else", "没有找到：不存在，或属于别人"},
		"conflict":            {"conflict: the id or key is in use with other content", "冲突：该 id 或键已用于其他内容"},
		"forgotten":           {"forgotten: what was written has been forgotten since", "已遗忘：所写的内容之后已被遗忘"},
		"precondition_failed": {"precondition failed: there is another version", "版本不符：已有另一个版本"},
		"too_large":           {"too large", "过大"},
		"limited":             {"limited: a rate or quota is used up", "已达上限：速率或配额已用完"},
		"consent_withdrawn":   {"consent withdrawn: this person does not want to be remembered", "已撤回同意：本人不同意记忆"},
		"unsupported":         {"unsupported: this configuration cannot do it", "不支持：当前配置做不到"},
		"unavailable":         {"unavailable: it cannot be done now; the outcome of a write is unknown", "暂不可用：现在无法完成；写入的结果未知"},
		"internal":            {"internal error", "内部错误"},
	}[code]
}

// translate gives a text of the service or of cobra in the tool's language.
// What has no form in Chinese stays as it is.
func (t *tool) translate(text string) string {
	if t.lang != "zh" {
		return text
	}
	for _, p := range chinese() {
		pattern := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(p.en), "%s", "(.*?)") + "$"
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if found == nil {
			continue
		}
		words := make([]any, 0, len(found))
		for _, word := range found[1:] {
			words = append(words, t.translate(word))
		}
		format := p.zh
		if len(words) > 0 {
			format += "%.0[1]s" // so that a word may be left out
		}
		return fmt.Sprintf(format, words...)
	}
	return text
}

// chinese are the texts that are written in English elsewhere: those of the
// command line's library, of errors that cross HTTP, and of single fields. %s
// stands for any text; where the order differs the Chinese one numbers them. The first that fits holds.
func chinese() []phrase {
	return append(append(usagePhrases(), fieldPhrases()...), detailPhrases()...)
}

// usagePhrases are those about the command line itself.
func usagePhrases() []phrase {
	return []phrase{
		{`required flag(s) %s not set`, `缺少必需的选项：%s`},
		{`unknown command %s for %s`, `%s 不是 %s 的子命令或参数`},
		{`unknown flag: %s`, `没有选项 %s`},
		{`unknown shorthand flag: %s in %s`, `没有选项 %s（在 %s 中）`},
		{`flag needs an argument: %s`, `选项 %s 缺少值`},
		{`bad flag syntax: %s`, `选项写法有误：%s`},
		{`invalid argument %s for %s flag: %s`, `值 %s 不能用于选项 %s：%s`},
		{`strconv.%s: parsing %s: invalid syntax`, `不是有效的数字`},
		{`requires at least %s arg(s), only received %s`, `至少需要 %s 个参数，只给了 %s 个`},
		{`accepts at most %s arg(s), received %s`, `最多 %s 个参数，给了 %s 个`},
		{`accepts %s arg(s), received %s`, `需要 %s 个参数，给了 %s 个`},
		{`%s needs --to`, `%s 需要 --to`},
		{`%s needs --from`, `%s 需要 --from`},
		{`%s needs --session`, `%s 需要 --session`},
		{`--expires needs a duration such as 12h or 90d`, `--expires 需要时长，如 12h、90d`},
		{`--ttl needs a duration such as 15m`, `--ttl 需要时长，如 15m`},
		{`--user and --receipt go together`, `--user 和 --receipt 须一起使用`},
		{`--from: %s`, `选项 --from：%s`}, {`--filter: %s`, `选项 --filter：%s`},
		{`the request: %s`, `请求：%s`},
		{`there is no operation %s`, `没有操作 %s`},
		{`--new-journal works on a data directory on which no server runs`, `--new-journal 只用于没有服务在运行的数据目录`},
		{`%s works on a data directory (--data), on the machine where it lies`, `%s 直接操作数据目录（--data），须在数据所在的机器上运行`},
		{`configuration`, `配置有误`},
	}
}

// fieldPhrases are those about one field of a request or one setting.
func fieldPhrases() []phrase {
	return []phrase{
		{`is required`, `必填`}, {`is missing`, `缺失`}, {`is required on role tool`, `在 role 为 tool 时必填`},
		{`must not be empty`, `不能为空`}, {`must not be empty without tool_calls`, `没有 tool_calls 时不能为空`}, {`must not be null`, `不能为 null`},
		{`must say something`, `必须有内容`}, {`says nothing`, `没有内容`},
		{`must be one of %s`, `须为以下之一：%s`},
		{`must be at least %s`, `至少为 %s`}, {`must be at most %s`, `至多为 %s`},
		{`must be positive`, `须为正数`}, {`must not be negative`, `不能为负`}, {`must be a number`, `须为数字`},
		{`must have at most %s characters`, `最多 %s 个字符`}, {`must have at least %s characters`, `至少 %s 个字符`},
		{`must have at most %s items`, `最多 %s 项`}, {`must have at least %s items`, `至少 %s 项`},
		{`must hold at most %s bytes of text`, `文本最多 %s 字节`}, {`must hold at most %s values`, `最多 %s 个值`},
		{`must nest at most %s deep`, `嵌套最多 %s 层`},
		{`must be valid UTF-8`, `须为有效的 UTF-8`}, {`must not hold NUL`, `不能含有 NUL`},
		{`must lie in the years 1 to 9999`, `年份须在 1 到 9999 之间`}, {`must lie in the future`, `须在将来`}, {`is past`, `已过期`},
		{`must be %s to %s`, `须在 %s 到 %s 之间`},
		{`must be zh or en`, `须为 zh 或 en`}, {`must be text or json`, `须为 text 或 json`},
		{`must be host:port`, `须为 主机:端口`}, {`must have a port from 0 to 65535`, `端口须在 0 到 65535 之间`},
		{`must be an IP address or localhost, with a port`, `须为 IP 地址或 localhost，并带端口`},
		{`must be http:// or https:// with a host`, `须以 http:// 或 https:// 开头并带主机名`},
		{`must be a loopback address such as 127.0.0.1 as long as there is no API key, %s`, `在没有 API 密钥时只能是本机地址，如 127.0.0.1，否则能连上的人都可以读到一切；请先运行 yiku key create 创建密钥`},
		{`must be the name of an IANA time zone`, `须为 IANA 时区名`}, {`must be an IANA time zone name`, `须为 IANA 时区名`},
		{`must be a string`, `须为字符串`}, {`must be an integer`, `须为整数`}, {`must be true or false`, `须为 true 或 false`},
		{`must be an array`, `须为数组`}, {`must be an object`, `须为对象`}, {`must be a JSON object`, `须为 JSON 对象`},
		{`must be a string or an array of parts`, `须为字符串或由各部分组成的数组`}, {`must be an RFC 3339 time`, `须为 RFC 3339 时间`},
		{`must be JSON`, `须为 JSON`}, {`is not JSON`, `不是 JSON`}, {`is not valid JSON`, `不是有效的 JSON`},
		{`must be after %s`, `须晚于 %s`}, {`must be absent with access admin`, `access 为 admin 时不能有`},
		{`has the wrong type`, `类型不对`}, {`there is no such field`, `没有这个字段`}, {`is not a known field`, `不是已知的字段`}, {`holds a number out of range`, `含有超出范围的数字`},
		{`stands more than once`, `出现了多次`}, {`is not one that this list gave`, `不是这个列表给出的`},
		{`is not a key of the configuration (in %s)`, `不是配置项（在 %s 中）`}, {`is not a key of the configuration`, `不是配置项`},
		{`is not a setting of the environment`, `不是环境变量中的配置项`}, {`needs KEY=VALUE`, `须写成 KEY=VALUE`},
		{`cannot read the file: %s`, `无法读取文件：%s`}, {`%s is not valid YAML: %s`, `%s 不是有效的 YAML：%s`},
		{`goes beyond the quota of %s (%s)`, `超出配额 %s（%s）`}, {`leaves no room in the window`, `窗口里放不下`},
		{`a value needs an attribute`, `有值就必须有属性`}, {`an attribute needs a subject`, `有属性就必须有主体`},
		{`a project memory needs one`, `项目记忆必须有`}, {`a task memory needs one`, `任务记忆必须有`},
		{`the session belongs to another project`, `会话属于另一个项目`}, {`everything cannot be archived, only forgotten`, `全部内容不能归档，只能遗忘`},
		{`a message is named within its session`, `指定消息时须同时指定会话`},
		{`no such file or directory`, `没有这个文件或目录`}, {`permission denied`, `没有权限`}, {`no space left on device`, `磁盘已满`},
	}
}

// detailPhrases are the details of errors.
func detailPhrases() []phrase {
	return []phrase{
		{`this needs the role %s`, `需要角色 %s`},
		{`this credential speaks for another user`, `该凭证代表的是另一个用户`},
		{`a credential of one user may not do this`, `只代表一个用户的凭证不能这样做`},
		{`without keys %s`, `没有密钥时只接受来自本机的请求`},
		{`The quota %s is used up.`, `配额 %s 已用完`}, {`The rate of this key is used up.`, `该密钥的请求速率已用完`},
		{`The tenant's requests of this day are used up.`, `该租户今天的请求数已用完`},
		{`there are %s keys that are not revoked; revoke some first`, `未吊销的密钥已有 %s 个，请先吊销一些`},
		{`the data directory %s is in use by %s`, `数据目录 %s 正被 %s 使用`}, {`process %s`, `进程 %s`}, {`another process`, `另一个进程`},
		{`address %s is in use; port 0 picks a free one`, `地址 %s 已被占用；端口 0 表示任选一个空闲端口`},
		{`cannot listen on %s: %s`, `无法监听 %s：%s`}, {`cannot read %s`, `无法读取 %s`},
		{`cannot write %s: %s`, `无法写入 %s：%s`}, {`write %s: %s`, `写入 %s：%s`}, {`cannot write %s`, `无法写入 %s`},
		{`the server is stopping`, `服务正在停止`}, {`the server answered with status %s`, `服务返回状态 %s`},
		{`the answer is not the JSON of this API`, `返回的不是本 API 的 JSON`}, {`there is no such path`, `没有这个路径`},
		{`there is no %s called %s; there are: %s`, `没有名为 %[2]s 的 %[1]s；可用的有：%[3]s`},
		{`there is no directory %s`, `没有目录 %s`}, {`there is no database in %s`, `%s 里没有数据库`}, {`there is no set in %s`, `%s 里没有数据集`},
		{`%s exists already`, `%s 已经存在`}, {`%s has a database already, which --replace would take away`, `%s 已有数据库；--replace 会删除它`},
		{`there is no audit key %s: %s`, `没有审计密钥 %s：备份靠它制作和校验，且从不包含它`},
		{`there is no forget journal %s: %s`, `没有遗忘日志 %s：没有它，备份之后遗忘的一切都会回来；可用 --journal 指定副本，或用 --without-journal`},
		{`the backup is broken: %s`, `备份已损坏：%s`}, {`--journal and --without-journal exclude each other`, `--journal 和 --without-journal 不能同时使用`},
		{`the present version is %s`, `当前版本是 %s`}, {`the body is over its limit`, `正文超过上限`},
		{`the idempotency key was used with another request`, `该幂等键已用于另一个请求`}, {`the same request is still running`, `同一请求仍在执行`},
		{`what this request made has been forgotten since`, `该请求所写的内容之后已被遗忘`}, {`this person has withdrawn consent`, `本人已撤回同意`},
		{`the session still holds messages`, `会话里还有消息`}, {`memories are being forgotten; try again`, `正在遗忘记忆，请重试`},
		{`there is no session %s of user %s`, `没有会话 %s（用户 %s）`}, {`there is no receipt %s of user %s`, `没有凭据 %s（用户 %s）`},
		{`%s: unavailable: %s`, `暂不可用：%[2]s`}, {`unavailable: %s`, `暂不可用：%s`}, {`%scontext deadline exceeded`, `超时`},
		{`The server is busy.`, `服务正忙`}, {`The server has too many connections.`, `服务的连接太多`},
		{`dial tcp %s: connect: connection refused`, `无法连接 %s，那里没有服务`},
		{`the audit log: %s: not clean`, `审计日志有误：%s`}, {`not clean`, `检查未通过`},
		{`there is no key %s of this tenant`, `本租户没有密钥 %s`},
		{`user %s has nothing of that name: no such memory, session or message`, `用户 %s 没有这样的记忆、会话或消息`},
	}
}
