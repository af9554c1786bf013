package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/experiment"
)

func (t *tool) experimentCommand() *cobra.Command {
	return t.group("experiment", phrase{"Compare variants of the settings by user", "按用户对照不同的设置"},
		t.experimentListCommand(), t.experimentStartCommand(), t.experimentStopCommand(), t.experimentReportCommand())
}

func (t *tool) experimentListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: t.say(phrase{"List the tenant's experiments", "列出租户的实验"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				set, err := service.GetSettings(ctx, yiku.GetSettingsRequest{})
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, set.Experiments)
				}
				for _, e := range set.Experiments {
					state := t.say(phrase{"running", "进行中"})
					switch {
					case !e.Running && e.StartedAt.IsZero():
						state = t.say(phrase{"not started", "未开始"})
					case !e.Running:
						state = t.say(phrase{"stopped", "已停止"})
					}
					names := make([]string, len(e.Variants))
					for i, v := range e.Variants {
						names[i] = v.Name
					}
					t.println(e.Name + "  " + state + "  " + strings.Join(names, " "))
				}
				return nil
			})
		},
	}
}

func (t *tool) experimentStartCommand() *cobra.Command {
	var texts []string
	var salt string
	cmd := &cobra.Command{
		Use:   "start NAME",
		Short: t.say(phrase{"Start an experiment; each user sees one variant until it stops", "开始实验；停止之前每个用户只看到一种设置"}),
		Example: `  yiku experiment start lean --variant control --variant lean:max_items=3,layers.neighbors=false
  yiku experiment start rerank --variant without:layers.rerank=false --variant with:layers.rerank=true,weight=2`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := yiku.Experiment{Name: args[0], Salt: salt, Running: true}
			for _, text := range texts {
				v, err := t.variant(text)
				if err != nil {
					return err
				}
				e.Variants = append(e.Variants, v)
			}
			return t.changeExperiments(cmd.Context(), func(list []yiku.Experiment) ([]yiku.Experiment, error) {
				return append(list, e), nil
			})
		},
	}
	cmd.Flags().StringArrayVar(&texts, "variant", nil, t.say(phrase{"`NAME[:KEY=VALUE,…]`, the first is the control; keys: weight, max_items, memory_budget, min_relevance, layers.NAME", "`NAME[:KEY=VALUE,…]`，第一个是对照组；键：weight、max_items、memory_budget、min_relevance、layers.NAME"}))
	cmd.Flags().StringVar(&salt, "salt", "", t.say(phrase{"parts the users; made by the server where absent", "决定如何分组的 `SALT`；默认由服务端生成"}))
	return cmd
}

func (t *tool) experimentStopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop NAME",
		Short: t.say(phrase{"Stop an experiment; it keeps its place in the list, for its report", "停止实验；仍留在列表里，供报告使用"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.changeExperiments(cmd.Context(), func(list []yiku.Experiment) ([]yiku.Experiment, error) {
				i, err := t.experimentOf(list, args[0])
				if err != nil {
					return nil, err
				}
				list[i].Running = false
				return list, nil
			})
		},
	}
}

func (t *tool) experimentOf(list []yiku.Experiment, name string) (int, error) {
	i := slices.IndexFunc(list, func(e yiku.Experiment) bool { return e.Name == name })
	if i < 0 {
		return 0, yiku.Errorf(yiku.ErrNotFound, "%s", t.say(phrase{"there is no experiment %s", "没有实验 %s"}, name))
	}
	return i, nil
}

// changeExperiments writes the list anew, unless somebody else has meanwhile.
func (t *tool) changeExperiments(ctx context.Context, change func([]yiku.Experiment) ([]yiku.Experiment, error)) error {
	return t.with(ctx, true, func(ctx context.Context, service yiku.Service) error {
		set, err := service.GetSettings(ctx, yiku.GetSettingsRequest{})
		if err != nil {
			return err
		}
		list, err := change(set.Experiments)
		if err != nil {
			return err
		}
		set, err = service.PatchSettings(ctx, yiku.PatchSettingsRequest{Conditional: yiku.Conditional{IfMatch: set.ETag()}, Experiments: yiku.Some(list)})
		if err != nil {
			return err
		}
		if t.flags.json {
			return writeJSON(t.env.Stdout, set.Experiments)
		}
		return nil
	})
}

// variant reads NAME[:KEY=VALUE,…] by way of the form that the API has.
func (t *tool) variant(text string) (v yiku.Variant, err error) {
	name, rest, _ := strings.Cut(text, ":")
	var fields, layers []string
	for part := range strings.SplitSeq(rest, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case part == "" && rest == "":
		case !found:
			return v, usagef("%s", t.say(phrase{"--variant %s: %q needs KEY=VALUE", "--variant %s：%q 应写成 KEY=VALUE"}, name, part))
		case strings.HasPrefix(key, "layers."):
			layers = append(layers, strconv.Quote(strings.TrimPrefix(key, "layers."))+":"+value)
		default:
			fields = append(fields, strconv.Quote(key)+":"+value)
		}
	}
	fields = append(fields, `"name":`+strconv.Quote(name), `"layers":{`+strings.Join(layers, ",")+`}`)
	if err := decode([]byte("{"+strings.Join(fields, ",")+"}"), &v); err != nil {
		return v, usagef("%s", t.say(phrase{"--variant %s: %s", "参数 --variant %s：%s"}, name, t.describe(err)))
	}
	return v, nil
}

func (t *tool) experimentReportCommand() *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use:   "report NAME",
		Short: t.say(phrase{"Report from the files of events whether variants differ by more than noise", "根据事件文件报告各种设置的差异是否超出噪声"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				set, err := service.GetSettings(ctx, yiku.GetSettingsRequest{})
				if err != nil {
					return err
				}
				i, err := t.experimentOf(set.Experiments, args[0])
				if err != nil {
					return err
				}
				report, err := t.tally(ctx, service, set.Experiments[i], files)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, report)
				}
				t.showReport(report, set.Experiments[i])
				return nil
			})
		},
	}
	cmd.Flags().StringArrayVar(&files, "events", nil, t.say(phrase{"`FILE` of events (the setting events), may be repeated (required)", "事件文件 `FILE`（配置项 events），可重复（必填）"}))
	_ = cmd.MarkFlagRequired("events")
	return cmd
}

// tally reads the files of events. What a user did before everything of theirs
// was forgotten is left out: they have left the measurement.
func (t *tool) tally(ctx context.Context, service yiku.Service, e yiku.Experiment, files []string) (experiment.Report, error) {
	names := make([]string, len(e.Variants))
	for i, v := range e.Variants {
		names[i] = v.Name
	}
	var events []experiment.Event
	bad := 0
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return experiment.Report{}, yiku.Errorf(yiku.ErrNotFound, "%s", t.say(phrase{"the file of events %s cannot be read", "读不了事件文件 %s"}, name))
		}
		n, err := experiment.Read(io.Reader(file), t.tenant(), e.Name, e.StartedAt, func(e experiment.Event) { events = append(events, e) })
		if err := errors.Join(err, file.Close()); err != nil {
			return experiment.Report{}, err
		}
		bad += n
	}
	forgotten := map[string]time.Time{}
	tally := experiment.NewTally(names)
	for _, event := range events {
		at, known := forgotten[event.User]
		if !known {
			var err error
			if at, err = forgottenAt(ctx, service, event.User); err != nil {
				return experiment.Report{}, err
			}
			forgotten[event.User] = at
		}
		if event.Time.After(at) {
			tally.Add(event)
		}
	}
	report := tally.Report(e.Name)
	report.BadLines = bad
	return report, nil
}

// forgottenAt is when everything of a user was last forgotten; zero: never.
func forgottenAt(ctx context.Context, service yiku.Service, user string) (time.Time, error) {
	req := yiku.ForgetLogRequest{Paging: yiku.Paging{Limit: 500}, UserID: user}
	all, err := everyPage(&req.Paging, func() (yiku.Page[yiku.Receipt], error) { return service.ForgetLog(ctx, req) })
	if err != nil {
		return time.Time{}, err
	}
	var last time.Time
	for _, r := range all {
		if r.Selector == "all" && r.CreatedAt.After(last) {
			last = r.CreatedAt
		}
	}
	return last, nil
}

func (t *tool) showReport(r experiment.Report, e yiku.Experiment) {
	for _, v := range r.Variants {
		t.println(pad(v.Variant, 16) + t.say(phrase{"%d users, %d requests", "%d 个用户，%d 次请求"}, v.Users, v.Requests))
	}
	for _, row := range r.Rows {
		verdict := t.say(phrase{"no more than noise", "未超出噪声"})
		switch {
		case row.Few:
			verdict = t.say(phrase{"too few users", "用户太少"})
		case row.Significant:
			verdict = t.say(phrase{"more than noise", "超出噪声"})
		}
		t.println(fmt.Sprintf("%s %s %10.2f → %10.2f  [%+.2f, %+.2f]  %s", pad(row.Variant, 16), pad(row.Metric, 20), row.ControlMean, row.VariantMean, row.Low, row.High, verdict))
	}
	if r.BadLines > 0 {
		t.println(t.say(phrase{"%d lines are no events", "%d 行不是事件"}, r.BadLines))
	}
	if e.Running {
		indent(t.env.Stdout, "", t.say(phrase{
			"It still runs. The intervals hold for one look at an end that was decided on before; who looks often and stops at the first difference finds one where there is none.",
			"实验仍在进行。区间只对事先定好的结束时间看一次有效；反复查看、一有差异就停止，会把噪声当成差异。",
		}))
	}
}
