module github.com/aws/aws-sdk-go-v2/service/servicediscovery

go 1.24
